import type { Message } from '../../model/message.js';

/** The first difference of a request from the one before, in the order in which services read a request. */
export interface CacheDifference {
  readonly part: 'tool' | 'instructions' | 'message' | 'settings';
  /** The position of the tool, or of the message without the instructions. Counts from 0. */
  readonly index?: number | undefined;
  /** The name of the tool or of the setting. */
  readonly name?: string | undefined;
  /** The role of the message. */
  readonly role?: Message['role'] | undefined;
}

/** The events that ready-made lifecycles and loaders emit, by type. */
export interface RunReports {
  /** A model call failed, and a lifecycle (`retryModelCalls` or `fallbackModels`) makes another model call. */
  'model-error': {
    readonly error: unknown;
    /** `retry` calls the same model again; `fallback` calls another model. */
    readonly action: 'retry' | 'fallback';
    /** The id of the model that is called next. */
    readonly model: string;
    /** The wait before the next call, in milliseconds. */
    readonly delayMs: number;
  };
  /**
   * The service read fewer tokens from its cache than the request before had put there. Not emitted for the first request of a
   * run or session, and for a request that is too short for a cache. Some services do not report cached tokens.
   */
  'cache-miss': {
    readonly cachedTokens: number;
    /** The tokens of the request before that the service can cache. */
    readonly expectedTokens: number;
    /**
     * `changed`: the request does not begin as the one before. `other-model`: another model answered that one. `expired`: the
     * time to live has passed. `evicted`: none of these, so the service has dropped its cache.
     */
    readonly cause: 'changed' | 'other-model' | 'expired' | 'evicted';
    /** Set if `cause` is `changed`. */
    readonly difference?: CacheDifference | undefined;
    /** The names of the lifecycles that changed this part of the request, by their decisions. */
    readonly by: readonly string[];
  };
  /** The lifecycle `compaction` starts to summarise the conversation. `messages` is their number before the summary. */
  'compaction-start': { readonly messages: number };
  /** The lifecycle `compaction` has finished. `messages` is their number now; absent if the messages did not change. */
  'compaction-end': { readonly messages?: number | undefined };
  /** A callback extension is not called for a while, because it kept failing. */
  'extension-error': {
    readonly extensionId: string;
    /** The callback that failed last. */
    readonly callback: string;
    /** The number of failures in a row. */
    readonly failures: number;
    /** The time for which the extension is not called, in milliseconds. */
    readonly pauseMs: number;
  };
  /** The run starts without the tools of some MCP servers. The tools join as soon as their server is connected. */
  'server-error': {
    /** The servers that are not connected. `state` is the state in `status()`; `error` is the last error. */
    readonly servers: readonly { readonly name: string; readonly state: string; readonly error?: string | undefined }[];
  };
}

/** An event that a ready-made lifecycle or a loader emits. */
export type RunReport = {
  [Type in keyof RunReports]: { readonly type: Type } & RunReports[Type];
}[keyof RunReports];
