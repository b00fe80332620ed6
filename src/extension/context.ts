import type { Logger } from '../internal/logger.js';
import type { ToolSpec } from '../model/model.js';
import type { StandardSchema } from '../tools/standard-schema.js';
import type { StateCodec } from './state/state-codec.js';

/**
 * The second argument of a callback. After the callback's time limit, after its run, and after `unregister`, the state
 * methods reject with ExtensionExpiredError.
 */
export interface ExtensionContext {
  readonly extensionId: string;
  /** The session's id. A run without a session has an id of its own, and its state is deleted when the run ends. */
  readonly sessionId: string;
  /** The agent's name. */
  readonly agent: string;
  /** The number of model calls that this run has started. */
  readonly turn: number;
  /** The `context` that the caller passed to the run. */
  readonly context: unknown;
  /** Copies of the tool specs that the model receives in this run. */
  readonly tools: readonly ToolSpec[];
  /** Aborts with the run, and when the callback exceeds its time limit. */
  readonly signal: AbortSignal;
  /** Puts the extension's id before each message. */
  readonly logger: Logger;
  /**
   * Returns this extension's value for the key in this session, or undefined, and restarts the value's time to live.
   * A schema validates the value; a codec decodes it. Rejects with StateMismatchError if either refuses the value.
   */
  getState<T = unknown>(key: string, as?: StandardSchema<unknown, T> | StateCodec<T>): Promise<T | undefined>;
  /**
   * Stores a value as JSON; a codec encodes the value first. Rejects with StateValueError if JSON would lose part of
   * the value, and with StateLimitError if the value exceeds the limits.
   */
  setState<T = unknown>(key: string, value: T, codec?: StateCodec<T>): Promise<void>;
  /**
   * Replaces a value by the return value of `update`, which gets the current value, and resolves to the new value. If
   * another process writes the value in the meantime, `update` is called again with that value.
   */
  updateState<T = unknown>(
    key: string,
    update: (value: T | undefined) => T,
    as?: StandardSchema<unknown, T> | StateCodec<T>,
  ): Promise<T>;
  /** Removes one value, or without a key all values of this extension in this session. */
  clearState(key?: string): Promise<void>;
}

/** The context of an `onTag` callback, with its section. */
export interface TagContext extends ExtensionContext {
  /** The attributes of the opening tag, not decoded. If a name occurs twice, its first value counts. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The whole section with its tags. Sections inside it are already replaced by their handlers. */
  readonly section: string;
}
