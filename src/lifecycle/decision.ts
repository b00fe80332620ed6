/** The name of a hook that is called during a run. */
export type HookPoint =
  | 'beforeAgent'
  | 'beforeModel'
  | 'beforeToolSelection'
  | 'wrapModelCall'
  | 'afterModel'
  | 'wrapToolCall'
  | 'afterAgent';

/**
 * One decision of a lifecycle, an entry of `result.decisions`. The entries are in the order of the decisions.
 *
 * - `approve`: the hook approved.
 * - `reject`: the hook ended the run with an error.
 * - `respond`: the hook ended the run with a text, or answered a model or tool call without `next`.
 * - `suspend`: the hook suspended the run or a tool call.
 * - `modify`: the hook replaced a value; `before` and `after` show the change.
 * - `block`: the hook failed and stopped the run or the call (`onFailure: 'block'`).
 * - `pass`: the hook failed, and the run continued with the previous value (`onFailure: 'continue'`).
 */
export interface Decision {
  readonly type: 'approve' | 'reject' | 'respond' | 'suspend' | 'modify' | 'block' | 'pass';
  /** The lifecycle's name, or the `by` of the action that the hook returned. */
  readonly by: string;
  readonly point: HookPoint | 'resume' | 'end';
  readonly turn: number;
  /** The ids of the enclosing tool calls, if the run is nested. */
  readonly path?: readonly string[] | undefined;
  readonly reason?: string | undefined;
  /** The tool call of the decision. */
  readonly call?: { readonly id: string; readonly name: string } | undefined;
  /**
   * The value before the decision: the string of `beforeAgent` or `afterAgent`, the raw arguments or the result of a
   * call, or the response.
   *
   * For an array of messages, its length. For an array of tools, their names.
   */
  readonly before?: unknown;
  /** The value after the decision, in the same form as `before`. */
  readonly after?: unknown;
}
