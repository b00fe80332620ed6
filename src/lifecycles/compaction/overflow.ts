import type { ModelCallRequest } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { Message } from '../../model/message.js';
import type { ModelError } from '../../model/run-error.js';

/** The ratio if the error names no token counts. */
const USUAL_RATIO = 0.5;
/** Smaller numbers in an error are status codes. */
const LEAST_TOKENS = 1_000;

/**
 * Returns the share of a request that fits into the model's context window. Most services name the size of the request
 * and of the window in the error. These are the two largest numbers in its message.
 */
export function fittingShare({ message }: ModelError): number {
  const found = [...message.matchAll(/(?<![\w.-])\d[\d,_]*(?![\w.-]*[a-z])/gi)]
    .map(([digits]) => Number(digits.replace(/[,_]/g, '')))
    .filter((count) => count >= LEAST_TOKENS);
  const [largest = 0, second] = [...new Set(found)].sort((a, b) => b - a);
  return second === undefined ? USUAL_RATIO : second / largest;
}

interface Replacement {
  readonly messages: readonly Message[];
  /** The number of messages of the run that `messages` replaces. */
  readonly count: number;
  /** The last message that `messages` replaces. */
  readonly last: Message | undefined;
}

/** Keeps the compacted messages of a model call until the next one, because a wrap changes its own request only. */
export interface Replacements {
  /** Stores the compacted messages, if the request had the messages of the run. */
  keep(request: ModelCallRequest, compacted: readonly Message[]): void;
  /** Returns the messages with the stored replacement, or undefined without one. */
  apply(messages: readonly Message[], run: RunContext): readonly Message[] | undefined;
}

export function createReplacements(): Replacements {
  const replacements = new WeakMap<object, Replacement>();
  return {
    keep({ messages, run }, compacted) {
      const { length: count } = run.messages;
      const last = run.messages[count - 1];
      const extra = messages.length - count;
      const isRuns = last === messages.at(-1) && (extra === 0 || (extra === 1 && messages[0]?.role === 'system'));
      if (isRuns) replacements.set(run.session ?? run, { messages: compacted.slice(extra), count, last });
    },
    apply(messages, run) {
      const found = replacements.get(run.session ?? run);
      replacements.delete(run.session ?? run);
      if (found === undefined || messages[found.count - 1] !== found.last) return undefined;
      return [...found.messages, ...messages.slice(found.count)];
    },
  };
}
