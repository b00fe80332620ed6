import { HookResultInvalidError } from '../errors.js';
import type { ModelResponse } from '../model/model.js';
import type { RejectAction, RespondAction } from '../tools/tool.js';

/** The run continues, as if the hook had returned `undefined`. */
export interface ContinueAction {
  readonly type: 'continue';
}

/** The run continues, and an `approve` decision is recorded. Later hooks still run. */
export interface ApproveAction {
  readonly type: 'approve';
}

/** The run ends with status `suspended`. Its open tool calls wait for a decision in this or another process. */
export interface SuspendAction {
  readonly type: 'suspend';
  readonly reason: string;
  /** The name to record in the decision instead of the lifecycle's name. */
  readonly by?: string | undefined;
}

/** Replaces the model response. Later hooks and the conversation get the new response. */
export interface ModifyAction {
  readonly type: 'modify';
  readonly response: ModelResponse;
}

/** An action that `afterModel` may return. Plain data that survives JSON. */
export type HookAction = ContinueAction | ApproveAction | RejectAction | RespondAction | SuspendAction | ModifyAction;

/** An action that `beforeAgent`, `beforeModel` and `beforeToolSelection` may return instead of a value. */
export type EntryAction = ContinueAction | ApproveAction | RejectAction | RespondAction;

/**
 * Makes the plain objects of {@link HookAction}.
 *
 * @example
 * const guard: AgentLifecycle = {
 *   name: 'closed',
 *   beforeAgent: (input) => (input === '' ? HookAction.reject('Nothing was asked.') : HookAction.Continue),
 * };
 */
export const HookAction = {
  /** Continues the run. */
  Continue: Object.freeze({ type: 'continue' }) as ContinueAction,
  /** Continues the run and records an approval. */
  Approve: Object.freeze({ type: 'approve' }) as ApproveAction,
  /** Ends the run with a RejectedError. */
  reject: (reason: string): RejectAction => ({ type: 'reject', reason }),
  /** Ends the run with this text as its answer. */
  respond: (text: string): RespondAction => ({ type: 'respond', text }),
  /** Ends the run with status `suspended` and leaves its tool calls open. */
  suspend: (reason: string): SuspendAction => ({ type: 'suspend', reason }),
  /** Replaces the model response. */
  modify: (response: ModelResponse): ModifyAction => ({ type: 'modify', response }),
} as const;

/** An action that ends a run early. */
export type EndAction = RejectAction | RespondAction | SuspendAction;

/** Returns the text or the reason of an action that ends a run. Throws HookResultInvalidError if it is missing. */
export function wordsOf(action: EndAction): string {
  const words: unknown = action.type === 'respond' ? action.text : action.reason;
  if (typeof words === 'string') return words;
  const key = action.type === 'respond' ? 'text' : 'reason';
  throw new HookResultInvalidError(`"${action.type}" needs a string \`${key}\``, action);
}
