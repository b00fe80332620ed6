import { sizeOf } from '../../../trace/explain/trace-index.js';
import type { TraceRecordOf } from '../../../trace/record.js';
import type { Story } from '../../story/story.js';
import { element } from '../element.js';
import { countText } from '../figures.js';
import type { Placement } from './placement.js';

/** A column of the diagram that shows the context of each model call. `x` is its position in pixels. */
export interface Column {
  readonly x: number;
  readonly root: HTMLElement;
}

/**
 * Returns a column for each model call. Its sections show the number of characters that the model read from each
 * source.
 */
export function contextColumns({ records, itemOf }: Story, placement: Placement): readonly Column[] {
  const calls = records.flatMap((record, index) => (record.type === 'model-call' ? [[record, index] as const] : []));
  const largest = calls.reduce((most, [call]) => Math.max(most, sizeOf(call)), 1);
  const colours = new Map<string, number>();
  for (const [call] of calls) {
    for (const name of Object.keys(call.context.sizes)) if (!colours.has(name)) colours.set(name, colours.size);
  }
  return calls.flatMap(([call, index]) => {
    const group = itemOf.get(index)?.lane.group;
    const row = placement.rows.find(({ lane }) => lane.kind === 'context' && lane.group === group);
    if (row === undefined) return [];
    const x = placement.x(index);
    const root = columnOf(call, colours);
    root.style.left = `${x - 12}px`;
    root.style.bottom = `${placement.height - row.top - row.height + 3}px`;
    root.style.height = `${Math.max(3, (row.height - 6) * (sizeOf(call) / largest))}px`;
    return [{ x, root }];
  });
}

function columnOf(call: ModelCall, colours: ReadonlyMap<string, number>): HTMLElement {
  const sizes = sizesOf(call);
  const names = sizes.slice(0, 4).map(([name, size]) => `${name} ${countText(size)}`);
  const title = `${countText(sizeOf(call))} characters: ${names.join(', ')}`;
  const parts = sizes.map(([name, size]) => {
    const part = element('i', { class: `source-${(colours.get(name) ?? 0) % 6}` });
    part.style.flexGrow = String(size);
    return part;
  });
  return element('div', { class: 'column', title }, ...parts);
}

type ModelCall = TraceRecordOf<'model-call'>;

/** Returns the sources that a model read in a call, with their sizes in characters, the largest first. */
export function sizesOf({ context }: ModelCall): readonly (readonly [name: string, size: number])[] {
  return Object.entries(context.sizes).sort(([, a], [, b]) => b - a);
}
