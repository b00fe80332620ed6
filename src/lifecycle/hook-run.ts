import type { Decision, HookPoint } from './decision.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';
import type { RunContext } from './run-context.js';
import type { RunEnd, Verdict } from './run-end.js';

/** A run as the dispatch of hooks sees it: what it hands to them, and what they do to it. */
export interface HookRun {
  /** Given to every hook of the run. */
  readonly context: RunContext;
  readonly end: RunEnd;
  /** The calls that hooks left open, by id: the run ends as suspended once the others of its turn have their results. */
  suspended: Map<string, Verdict> | undefined;
  /** Takes note of a decision, for the result and for listeners. */
  record(decision: Omit<Decision, 'turn'>): void;
}

/** Where a context keeps its run, out of reach of hooks. */
export const RUN = Symbol.for('keelson.run');

/** The run behind a context; undefined when no agent made it. */
export function hookRunOf(context: object | undefined): HookRun | undefined {
  return (context as { readonly [RUN]?: HookRun } | undefined)?.[RUN];
}

/** One hook of one part in one run. */
export interface HookSite {
  readonly entry: RegisteredLifecycle;
  readonly point: HookPoint;
  readonly run: HookRun;
  /** The tool call that it is about. */
  readonly call?: { readonly id: string; readonly name: string } | undefined;
}
