/** A model call failed, and another model call follows. */
export interface ModelErrorReport {
  readonly type: 'model-error';
  readonly error: unknown;
  /** `retry` calls the same model again; `fallback` calls another model. */
  readonly action: 'retry' | 'fallback';
  /** The id of the model that is called next. */
  readonly model: string;
  /** The wait before the next call, in milliseconds. */
  readonly delayMs: number;
}

/** The summary of a long conversation is about to be written. */
export interface CompactionStartReport {
  readonly type: 'compaction-start';
  /** The number of messages before the summary. */
  readonly messages: number;
}

/** The summary was written, or could not be written. */
export interface CompactionEndReport {
  readonly type: 'compaction-end';
  /** The number of messages after the summary; absent if the messages did not change. */
  readonly messages?: number | undefined;
}

/** A callback extension was set aside, because it kept failing. */
export interface ExtensionErrorReport {
  readonly type: 'extension-error';
  readonly extensionId: string;
  /** The callback that failed last. */
  readonly callback: string;
  /** The number of failures in a row. */
  readonly failures: number;
  /** The time for which the extension is not called, in milliseconds. */
  readonly pauseMs: number;
}

/** The run starts without the tools of some MCP servers, because they are not connected. */
export interface ServerErrorReport {
  readonly type: 'server-error';
  /** The servers that are not connected. `state` is that of `status()`; `error` is the last error. */
  readonly servers: readonly {
    readonly name: string;
    readonly state: string;
    readonly error?: string | undefined;
  }[];
}

/** An event that a ready-made lifecycle or a loader emits. */
export type RunReport =
  | ModelErrorReport
  | CompactionStartReport
  | CompactionEndReport
  | ExtensionErrorReport
  | ServerErrorReport;
