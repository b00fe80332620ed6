import type { Awaitable } from '../internal/promise.js';
import type { Decision, HookPoint } from './decision.js';
import type { EndAction } from './hook-action.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';
import type { RunContext } from './run-context.js';

/** A decision that ends the run, with who took it and where. */
export interface Verdict {
  readonly action: EndAction;
  readonly by: string;
  readonly point: HookPoint | 'end';
}

/** A run as the dispatch of hooks sees it: the context, and what hooks do to it. */
export interface HookRun extends RunContext {
  /** Set once. The loop honours it at its next step. */
  verdict: Verdict | undefined;
  /** How many parts, in the order of the chain, have entered. */
  entered: number;
  /** How many parts, in that order, have had their `afterAgent`, or would have had it. */
  exited: number;
  /** Set where the run was aborted: the error that it ends with. */
  readonly abortError: Error | undefined;
  /** Throws that error, where there is one. */
  throwIfAborted(): void;
  /** The outcome, or the abort where that comes first: then `giveUp` is called. */
  race<T>(value: Awaitable<T>, giveUp?: () => void): Awaitable<T>;
  /** The calls that hooks left open, by id. */
  readonly suspended: ReadonlyMap<string, Verdict> | undefined;
  /** Leaves a tool call open: the run ends as suspended once the others of its turn have their results. */
  suspendCall(id: string, verdict: Verdict): void;
  /** Takes note of a decision, for the result and for listeners. */
  record(decision: Omit<Decision, 'turn'>): void;
  /** Marks an error as one that already says where it came from, so that no outer hook is blamed for it. */
  own<E>(error: E): E;
  owns(error: unknown): boolean;
}

/** One hook of one part in one run. */
export interface HookSite {
  readonly entry: RegisteredLifecycle;
  readonly point: HookPoint;
  readonly run: HookRun;
  /** The tool call that it is about. */
  readonly call?: { readonly id: string; readonly name: string } | undefined;
}
