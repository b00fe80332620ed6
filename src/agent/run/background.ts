import { BackgroundUnavailableError, RunEndedError } from '../../errors.js';
import { fullText, required } from '../../internal/options/rules.js';
import { invalidOption, type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { isPromise } from '../../internal/promise.js';
import type { BackgroundOptions, BackgroundWork } from '../../tools/tool.js';

interface BackgroundRun {
  readonly end: { readonly closing: boolean };
  readonly effects: object | undefined;
  readonly attached: {
    readonly recorder?: { background(work: BackgroundWork, label: string): Promise<string> } | undefined;
  };
}

const rules = { label: required(fullText) } satisfies OptionTable<BackgroundOptions>;

/** Starts a background work. Returns the string that the tool returns to the model. */
export async function startBackground(
  run: BackgroundRun,
  work: BackgroundWork,
  options: BackgroundOptions,
): Promise<string> {
  // If the work cannot start, its rejected promise must not end the process.
  if (isPromise(work)) work.then(undefined, () => {});
  else if (typeof work !== 'function') throw invalidOption('work', 'a promise or a function', work);
  validateOptions(options, rules);
  if (run.end.closing) throw new RunEndedError('run.background');
  if (run.effects !== undefined) throw new BackgroundUnavailableError('in a durable run');
  const { recorder } = run.attached;
  if (recorder === undefined) throw new BackgroundUnavailableError('without a session');
  const { label } = options;
  const id = await recorder.background(work, label);
  return `${JSON.stringify(label)} continues in the background (${id}). Its result will follow as a message.`;
}
