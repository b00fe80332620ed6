import { HookResultInvalidError } from '../errors.js';
import type { ModelResponse } from '../model/model.js';
import type { RejectAction, RespondAction } from '../tools/tool.js';

/** Go on: the same as returning nothing. */
export interface ContinueAction {
  readonly type: 'continue';
}

/** Go on, and record that this part approved. Later hooks still run. */
export interface ApproveAction {
  readonly type: 'approve';
}

/** The run ends with status `suspended`. Its open calls wait for a decision, in this process or another. */
export interface SuspendAction {
  readonly type: 'suspend';
  readonly reason: string;
  /** Who decided, where that is more exact than the lifecycle's name. */
  readonly by?: string | undefined;
}

/** Replaces the response: later hooks, the loop and the messages see the new one. */
export interface ModifyAction {
  readonly type: 'modify';
  readonly response: ModelResponse;
}

/** What `afterModel` decides. Plain data: it can be cloned, printed and sent. */
export type HookAction = ContinueAction | ApproveAction | RejectAction | RespondAction | SuspendAction | ModifyAction;

/** What a hook before the model call may decide instead of giving a value. */
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
  /** Go on. */
  Continue: Object.freeze({ type: 'continue' }) as ContinueAction,
  /** Go on, and record the approval. */
  Approve: Object.freeze({ type: 'approve' }) as ApproveAction,
  /** End the run with a RejectedError. */
  reject: (reason: string): RejectAction => ({ type: 'reject', reason }),
  /** End the run with this text. */
  respond: (text: string): RespondAction => ({ type: 'respond', text }),
  /** End the run with its calls open. */
  suspend: (reason: string): SuspendAction => ({ type: 'suspend', reason }),
  /** Replace the response. */
  modify: (response: ModelResponse): ModifyAction => ({ type: 'modify', response }),
} as const;

/** The last word on a run before its time. */
export type EndAction = RejectAction | RespondAction | SuspendAction;

/** The text or the reason of an action that ends a run. Throws where it has none. */
export function wordsOf(action: EndAction): string {
  const key = action.type === 'respond' ? 'text' : 'reason';
  const words: unknown = (action as Partial<Record<typeof key, unknown>>)[key];
  if (typeof words === 'string') return words;
  throw new HookResultInvalidError(`"${action.type}" needs \`${key}\``, action);
}

/** As `wordsOf`, for what is given to `run.end`. */
export function wordsOfEarlyEnd(action: RejectAction | RespondAction): string {
  if (action?.type === 'reject' || action?.type === 'respond') return wordsOf(action);
  throw new HookResultInvalidError('run.end takes HookAction.reject() or HookAction.respond()', action);
}
