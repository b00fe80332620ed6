/** A nested run, as a page shows it. */
export interface UINestedRun {
  readonly runId: string;
  readonly agent: string;
  /** The ids of the enclosing tool calls, outermost first. The last one is the call that started it. */
  readonly path: readonly string[];
  readonly status: 'running' | 'completed' | 'suspended' | 'failed' | 'stopped';
  /** Says why the run failed, in the words of `errorText`. Absent if only its call failed, and after a reload. */
  readonly errorText?: string | undefined;
}

/** A turn of a nested run. */
export interface UINestedStep {
  /** The run of the step. */
  readonly runId: string;
  readonly turn: number;
  readonly text: string;
  readonly calls: readonly UINestedCall[];
}

/** A tool call of a nested run. The path of the nested runs is the path of its run and its id. */
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
