import { readTrace } from '../../trace/record-line.js';
import type { App } from './app.js';
import { element } from './element.js';

/** A trace in the folder, as the server lists it. */
interface Listed {
  readonly id: string;
  readonly name: string;
  readonly size: number;
}

const EVERY_MS = 1_000;

/**
 * Shows the newest trace of the folder that the server serves, until a person chooses another one. Reloads the trace
 * when it grows.
 */
export function followFolder(app: App): void {
  const picker = element('select', { label: 'Trace' });
  app.toolbar.add(picker);
  let isChosen = false;
  let shown: Listed | undefined;
  picker.addEventListener('change', () => {
    isChosen = true;
  });
  const look = async () => {
    const traces: readonly Listed[] = await (await read('traces')).json();
    list(picker, traces);
    // A deleted trace cannot be followed.
    if (picker.value === '') isChosen = false;
    const newest = traces[0];
    if (!isChosen && newest !== undefined) picker.value = newest.id;
    const current = traces.find(({ id }) => id === picker.value);
    const isSame = current?.id === shown?.id;
    if (current === undefined || (isSame && current.size === shown?.size)) return;
    const text = await (await read(`traces/${current.id}`)).text();
    if (text === '') return;
    app.show(readTrace(text), isSame);
    shown = current;
  };
  const again = () =>
    look()
      .then(
        () => app.toolbar.warn(''),
        (error) => app.toolbar.warn(error instanceof Error ? error.message : String(error)),
      )
      .finally(() => setTimeout(again, EVERY_MS));
  void again();
}

/** Reads a path from the server. If the server refuses, rejects with its reason as a string. */
async function read(path: string): Promise<Response> {
  const response = await fetch(path);
  if (!response.ok) return Promise.reject(await response.text());
  return response;
}

function list(picker: HTMLSelectElement, traces: readonly Listed[]): void {
  const ids = traces.map(({ id }) => id).join();
  if (picker.dataset.ids === ids) return;
  const { value } = picker;
  picker.dataset.ids = ids;
  picker.replaceChildren(...traces.map(({ id, name }) => element('option', { text: name, attributes: { value: id } })));
  picker.value = value;
}
