/** The state of a nested run, for a page. A nested run is a run that a tool call of another run has started. */
export interface UINestedRun {
  readonly runId: string;
  readonly agent: string;
  /** The ids of the enclosing tool calls, outermost first. The last id is the call that started the run. */
  readonly path: readonly string[];
  readonly status: 'running' | 'completed' | 'suspended' | 'failed' | 'stopped';
  /** The text of `errorText` for the failure of the run. Absent if only the enclosing call failed. */
  readonly errorText?: string | undefined;
}

/** A turn of a nested run. */
export interface UINestedStep {
  /** The id of the nested run. */
  readonly runId: string;
  readonly turn: number;
  readonly text: string;
  readonly calls: readonly UINestedCall[];
}

/** A tool call of a nested run. Runs that this call has started have the path of this run, plus the id of this call. */
export interface UINestedCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /**
   * The state of the call. The page of a person who may not approve or deny calls shows `running` instead of `pending`.
   */
  readonly status: 'running' | 'done' | 'failed' | 'denied' | 'pending';
  readonly output?: unknown;
  readonly errorText?: string | undefined;
  /** The reason why the call waits, or why it was denied. */
  readonly reason?: string | undefined;
  /** The name of the lifecycle that made the call wait. */
  readonly by?: string | undefined;
}

/** The state of a nested run or of one of its turns, for a page. A later part with the same id replaces it. */
export type NestedPart =
  | { readonly type: 'nested-run'; readonly id: string; readonly data: UINestedRun }
  | { readonly type: 'nested-step'; readonly id: string; readonly data: UINestedStep };
