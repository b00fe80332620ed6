/** A run inside of a tool call, as a page shows it. */
export interface UINestedRun {
  readonly runId: string;
  readonly agent: string;
  /** The ids of the tool calls that lead to the run, from the outermost. The last one is the call that started it. */
  readonly path: readonly string[];
  readonly status: 'running' | 'completed' | 'suspended' | 'failed' | 'stopped';
  /** Says why the run failed, in the words of `errorText`. Absent if only its call failed. */
  readonly errorText?: string | undefined;
}

/** A turn of a run inside of a tool call. */
export interface UINestedStep {
  /** The run of the step. */
  readonly runId: string;
  readonly turn: number;
  readonly text: string;
  readonly calls: readonly UINestedCall[];
}

/** A tool call of a run inside of a tool call. The path of the runs inside of it is the path of its run and its id. */
export interface UINestedCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** A page that must not decide sees `running` instead of `pending`. */
  readonly status: 'running' | 'done' | 'failed' | 'denied' | 'pending';
  readonly output?: unknown;
  readonly errorText?: string | undefined;
  /** Says why the call waits, or why it was denied. */
  readonly reason?: string | undefined;
  /** The name of the lifecycle that lets the call wait. */
  readonly by?: string | undefined;
}

/** A part of the page. A later part with the same id replaces it. */
export type NestedPart =
  | { readonly type: 'nested-run'; readonly id: string; readonly data: UINestedRun }
  | { readonly type: 'nested-step'; readonly id: string; readonly data: UINestedStep };
