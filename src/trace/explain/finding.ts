/** The lifecycle, tool, server, model or other part that caused something. */
export interface Cause {
  readonly kind: 'lifecycle' | 'tool' | 'server' | 'model' | 'agent' | 'store' | 'caller';
  readonly name: string;
}

/** One conclusion from a trace, and the part that caused it. */
export interface Finding {
  /**
   * - `failure`: a run failed.
   * - `failed-call`: a tool call has an error for its result.
   * - `denied-call`: a lifecycle denied a tool call, or answered it itself.
   * - `server`: a server was not connected.
   * - `cache-miss`: the service read fewer cached tokens than the requests had in common.
   * - `context`: a part of the context is larger than all others together.
   * - `slow-turn`: a part took at least half of the time of the slowest turn.
   * - `tokens`: one of several agents cost more than half of the money or, without prices, used more than half of the tokens.
   */
  readonly kind:
    | 'failure'
    | 'failed-call'
    | 'denied-call'
    | 'server'
    | 'cache-miss'
    | 'context'
    | 'slow-turn'
    | 'tokens';
  /** The explanation, in one or two sentences with numbers. */
  readonly text: string;
  /** The part that caused it. Undefined if the trace does not show a cause. */
  readonly by: Cause | undefined;
  readonly runId: string;
  readonly turn?: number | undefined;
  /** The indices of the records that show the finding, from the cause to its effect. */
  readonly records: readonly number[];
}
