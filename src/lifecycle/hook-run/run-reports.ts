import type { Message } from '../../model/message.js';

/** The first difference between a request and the previous request, in the order in which providers read a request. */
export interface CacheDifference {
  readonly part: 'tool' | 'instructions' | 'message' | 'settings';
  /** The index of the tool, or of the message. Instructions do not count as a message. */
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
    /** The id of the model of the next call. */
    readonly model: string;
    /** The wait before the next call, in milliseconds. */
    readonly delayMs: number;
  };
  /**
   * The provider read fewer tokens from its cache than the previous request had put there.
   *
   * Not emitted for the first request of a run or session, and for a request that is too short for a cache. Some
   * providers do not report cached tokens.
   */
  'cache-miss': {
    readonly cachedTokens: number;
    /** The number of tokens of the previous request that the provider can cache. */
    readonly expectedTokens: number;
    /**
     * `changed`: the beginning of the request differs from the previous request. `other-model`: another model answered
     * the previous request. `expired`: the time to live has passed. `evicted`: none of these, so the provider has
     * dropped its cache.
     */
    readonly cause: 'changed' | 'other-model' | 'expired' | 'evicted';
    /** The first difference between the two requests. Set if `cause` is `changed`. */
    readonly difference?: CacheDifference | undefined;
    /** The names of the lifecycles that changed the part of the request in `difference`. */
    readonly by: readonly string[];
  };
  /**
   * The lifecycle `compaction` starts to summarise the conversation. `messages` is the number of messages before the
   * summary.
   */
  'compaction-start': { readonly messages: number };
  /**
   * The lifecycle `compaction` has finished. `messages` is the new number of messages, or absent if the messages did
   * not change.
   */
  'compaction-end': { readonly messages?: number | undefined };
  /** A callback extension failed several times in a row and is paused. */
  'extension-error': {
    readonly extensionId: string;
    /** The callback that failed last. */
    readonly callback: string;
    /** The number of failures in a row. */
    readonly failures: number;
    /** Milliseconds for which the extension is paused. */
    readonly pauseMs: number;
  };
  /** The run starts although some MCP servers are not connected. Their tools join when the servers connect. */
  'server-error': {
    /** The servers that are not connected, with their `state` as in `status()` and their last `error`. */
    readonly servers: readonly { readonly name: string; readonly state: string; readonly error?: string | undefined }[];
  };
}

/** An event that a ready-made lifecycle or a loader emits. */
export type RunReport = {
  [Type in keyof RunReports]: { readonly type: Type } & RunReports[Type];
}[keyof RunReports];
