import type { Message } from '../../model/message.js';
import type { Model, ModelResponse } from '../../model/model.js';
import type { Decision, HookPoint } from '../decision.js';
import type { RegisteredLifecycle } from '../registered-lifecycle.js';
import type { RunContext } from '../run-context.js';
import type { Pairing } from './pairing.js';
import type { RunEnd } from './run-end.js';
import type { RunReport } from './run-report.js';

/** The state of a run that the code that calls hooks reads and changes. */
export interface HookRun {
  /** Passed to every hook of the run. */
  readonly context: RunContext;
  readonly end: RunEnd;
  readonly pairing: Pairing;
  /** `later` holds the messages that followed the open calls of a resumed run. */
  readonly conversation: { readonly resuming: { readonly later: readonly Message[] } | undefined };
  /** Undefined before the first turn. */
  readonly turn: HookTurn | undefined;
  /** Adds a decision to the result and emits a `decision` event. */
  record(decision: Omit<Decision, 'turn'>): void;
  /** Emits an event. Returns false if this type of event has no listener. */
  report(news: RunReport): boolean;
}

/** The current turn of a run. */
export interface HookTurn {
  /**
   * Makes an extra call of `model`, apart from the call of the turn, through the `wrapModelCall` hooks. The usage of the run
   * includes it.
   */
  askAside(model: Model, messages: readonly Message[]): Promise<ModelResponse>;
}

/** One model or tool call with its hooks, from the start of the outermost hook until it settles. */
export interface CallScope {
  readonly run: HookRun;
  /** False once the outermost hook of a model call has settled. Then `next` rejects in hooks that are still running. */
  readonly open: boolean;
  /** The number of hooks and calls that are running. */
  busy: number;
}

/** Key of the internal run inside a RunContext. */
export const RUN = Symbol.for('keelson.run');

/** Returns the internal run of a RunContext, or undefined if no agent made the object. */
export function hookRunOf(context: object | undefined): HookRun | undefined {
  return (context as { readonly [RUN]?: HookRun } | undefined)?.[RUN];
}

/** Key that marks the request of a model call outside of the turns. Copies of the request keep the mark. */
export const ASIDE = Symbol.for('keelson.aside');

/** Returns true if the model call is not part of a turn, such as the call for a summary. */
export function isAside(request: object): boolean {
  return ASIDE in request;
}

/** One hook of one lifecycle in one run. */
export interface HookSite {
  readonly entry: RegisteredLifecycle;
  readonly point: HookPoint;
  readonly run: HookRun;
  /** The tool call that the hook wraps. */
  readonly call?: { readonly id: string; readonly name: string } | undefined;
}

/** Emits an event of a run. If this type of event has no listener, logs `message` as a warning instead. */
export function report(run: RunContext, news: RunReport, message?: string): void {
  const isHeard = hookRunOf(run)?.report(news);
  if (!isHeard && message !== undefined) run.logger.warn(message);
}
