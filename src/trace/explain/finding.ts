/** The lifecycle, tool, server, model, agent, store or caller that caused something. */
export interface Cause {
  readonly kind: 'lifecycle' | 'tool' | 'server' | 'model' | 'agent' | 'store' | 'caller';
  readonly name: string;
}

/** One conclusion from a trace, with its cause. */
export interface Finding {
  /**
   * The kind of conclusion:
   * - `failure`: a run failed.
   * - `failed-call`: the result of a tool call is an error.
   * - `denied-call`: a lifecycle denied a tool call, or answered it with an error.
   * - `server`: an MCP server was not connected when a run started.
   * - `cache-miss`: the provider read fewer tokens from its prompt cache than the last two requests had in common.
   * - `context`: the results of one tool are more than half of the context.
   * - `slow-turn`: one model call, hook or tool took at least half of the time of the slowest turn.
   * - `tokens`: one of several agents caused more than half of the cost. Without prices, tokens are compared.
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
  /** The cause. Undefined if the trace does not show it. */
  readonly by: Cause | undefined;
  readonly runId: string;
  readonly turn?: number | undefined;
  /** The positions in the trace of the records that show the finding. The record of the cause comes first. */
  readonly records: readonly number[];
}
