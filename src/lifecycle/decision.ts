/** Where in a run a lifecycle takes part. */
export type HookPoint =
  | 'beforeAgent'
  | 'beforeModel'
  | 'beforeToolSelection'
  | 'wrapModelCall'
  | 'afterModel'
  | 'wrapToolCall'
  | 'afterAgent';

/**
 * One thing that a part did to a run: an entry of `result.decisions`, in the order it happened.
 *
 * | type | what happened |
 * |---|---|
 * | `approve` | the hook said so |
 * | `reject` | it ended the run |
 * | `respond` | it ended the run with a text, or answered a model or tool call without `next` |
 * | `suspend` | it left the run, or a call, open |
 * | `modify` | it replaced the value: `before` and `after` show both |
 * | `block` | its failure stopped the run or the call (`onFailure: 'block'`) |
 * | `pass` | its failure was passed over (`onFailure: 'continue'`) |
 */
export interface Decision {
  readonly type: 'approve' | 'reject' | 'respond' | 'suspend' | 'modify' | 'block' | 'pass';
  /** The lifecycle's name, or the more exact name that its action gave. */
  readonly by: string;
  readonly point: HookPoint | 'resume' | 'end';
  readonly turn: number;
  readonly reason?: string | undefined;
  /** The tool call that it is about. */
  readonly call?: { readonly id: string; readonly name: string } | undefined;
  /**
   * The value before: the text of `beforeAgent` and `afterAgent`, the raw arguments or the result of a call, the
   * response; for lists of messages their number, for tools their names.
   */
  readonly before?: unknown;
  /** The value after, in the same form. */
  readonly after?: unknown;
}
