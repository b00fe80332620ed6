import type { JsonValue } from '../internal/json.js';

/** The third argument of a {@link Step}. */
export interface StepOptions {
  /**
   * Identifies the step among all steps of all executions, and is the same in each attempt. The key of a tool call is the
   * `idempotencyKey` that the tool gets.
   */
  readonly key: string;
  /** The kind of work: a model call, a tool call, a hook, a wait before a retry, or access to a session store. */
  readonly kind: 'start' | 'model' | 'tool' | 'hook' | 'tools' | 'wait' | 'session';
}

/**
 * Runs one step of a durable engine. Resolves with the JSON value that `run` resolved with, after the engine has stored
 * it. If the engine has stored the value in an earlier attempt, resolves with that value and does not call `run`.
 *
 * `run` rejects only if the run was aborted. Then the engine must store nothing. Several steps may be open at the same
 * time. If the promise of a step rejects, the agent's run is aborted.
 */
export interface Step {
  (name: string, run: () => Promise<JsonValue>, options: StepOptions): Promise<JsonValue>;
  /** Identifies the execution, and is the same in each attempt. Ids of runs and of new sessions begin with it. */
  readonly id: string;
}

/** Stores large bytes outside of the engine. */
export interface BlobStore {
  /** Stores bytes. A second call with the same key replaces the bytes. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns the stored bytes, or undefined if the store has no such key. */
  get(key: string): Promise<Uint8Array | undefined>;
}
