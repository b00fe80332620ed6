import type { Logger } from '../internal/logger.js';
import type { ToolSpec } from '../model/model.js';
import type { StandardSchema } from '../tools/standard-schema.js';
import type { StateCodec } from './state/state-codec.js';

/** What a callback knows and may do. Good until its callback is given up or its run is over. */
export interface ExtensionContext {
  readonly extensionId: string;
  /** The session's id; in a run without a session, an id of that run alone, whose state is dropped as it ends. */
  readonly sessionId: string;
  /** The agent's name. */
  readonly agent: string;
  /** Model calls begun in this run. */
  readonly turn: number;
  /** What the caller of the run gave as `context`. */
  readonly context: unknown;
  /** The tools of the run as the model is told of them: copies. */
  readonly tools: readonly ToolSpec[];
  /** Aborted with the run, and when the callback's time is up. Made when it is first read. */
  readonly signal: AbortSignal;
  /** The log, each line with the extension's id before it. */
  readonly logger: Logger;
  /**
   * The value of this extension in this session, or undefined; its time to live starts anew. With a schema or codec it is
   * checked and turned into what that gives; rejects with StateMismatchError where it does not fit.
   */
  getState<T = unknown>(key: string, as?: StandardSchema<unknown, T> | StateCodec<T>): Promise<T | undefined>;
  /**
   * Stores a value as JSON, through the codec where there is one. Rejects with StateValueError where JSON would lose
   * something, with StateLimitError where it does not fit.
   */
  setState<T = unknown>(key: string, value: T, codec?: StateCodec<T>): Promise<void>;
  /** Removes one value, or all of this extension in this session. */
  clearState(key?: string): Promise<void>;
}

/** What a callback for tags knows of its section besides. */
export interface TagContext extends ExtensionContext {
  /** The attributes of the tag as they are written; the first of a name counts. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The section as it stands, markup included, with its inner sections done. */
  readonly section: string;
}
