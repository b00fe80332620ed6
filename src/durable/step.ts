import type { PendingAnswer, PendingCall } from '../agent/run-result.js';
import type { JsonValue } from '../internal/json.js';
import { boolean, callable, fullText, required } from '../internal/options/rules.js';
import { type OptionTable, validateOption, validateOptions } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import type { ReplayMismatchError } from './error.js';

/** The third argument of a {@link Step}. */
export interface StepInfo {
  /**
   * Identifies the step among all steps of all executions. The same in each attempt. For a tool call, the key is the
   * `idempotencyKey` that the tool receives.
   */
  readonly key: string;
  /**
   * The kind of work, such as a model call, a tool call, a hook, a wait before a retry, or access to a session store.
   */
  readonly kind: 'start' | 'model' | 'tool' | 'hook' | 'tools' | 'wait' | 'session';
}

/**
 * Runs one step of a durable engine. Resolves with the JSON value that `run` resolved with, after the engine has stored
 * it. If the engine stored the value in an earlier attempt, resolves with that value and does not call `run`.
 *
 * `run` never rejects: a failure is part of the value. `run` stays pending if the agent is closed during the step or if
 * the blob store fails, so that nothing is stored.
 *
 * Several steps may be open at the same time. If the promise of a step rejects, the agent's run is aborted.
 */
export interface Step extends StepFunction {
  /** Identifies the execution. The same in each attempt. Ids of runs and of new sessions contain it. */
  readonly id: string;
  /** See {@link StepOptions}. */
  readonly replaysInOrder?: boolean | undefined;
  /** See {@link StepOptions}. */
  readonly unread?: (() => Awaitable<readonly string[]>) | undefined;
  /** See {@link StepOptions}. */
  readonly refuse?: ((error: ReplayMismatchError) => Promise<never>) | undefined;
  /** See {@link StepOptions}. */
  readonly isCancelled?: ((error: unknown) => boolean) | undefined;
}

/** Options of {@link defineStep}. */
export interface StepOptions {
  /**
   * True if the engine keeps the order of results itself, and calls `run` only after it has replayed all stored steps,
   * as Restate does.
   *
   * If false, a replay delays a result until the engine has returned a stored value or called `run` for every open
   * step. Default: false.
   */
  readonly replaysInOrder?: boolean | undefined;
  /**
   * Returns the names of the stored steps that this attempt has not started, in order. If a run ends before one of its
   * own stored steps, it is refused with a ReplayMismatchError. Default: the engine compares by itself.
   */
  readonly unread?: (() => Awaitable<readonly string[]>) | undefined;
  /**
   * Called before a run is aborted because the program does not match the stored steps. Let it stay pending if the
   * engine would end the execution because of the error.
   *
   * In such an engine, calls of a session store or blob store that fail temporarily are repeated within the same
   * attempt. Default: the run is aborted.
   */
  readonly refuse?: ((error: ReplayMismatchError) => Promise<never>) | undefined;
  /**
   * Returns true if a step was rejected because the execution was cancelled. The run then releases its session.
   * Default: the run keeps the session for the next attempt.
   */
  readonly isCancelled?: ((error: unknown) => boolean) | undefined;
}

/** The function of a {@link Step}. */
export type StepFunction = (name: string, run: () => Promise<JsonValue>, options: StepInfo) => Promise<JsonValue>;

/**
 * Makes the steps of your own engine from the id of the execution and a function.
 *
 * @example
 * const step = defineStep(job.id, async (_name, run, { key }) => {
 *   const stored = await database.find(key);
 *   if (stored !== undefined) return stored;
 *   const value = await run();
 *   await database.insert(key, value);
 *   return value;
 * });
 */
export function defineStep(id: string, step: StepFunction, options: StepOptions = {}): Step {
  validateOption('id', id, required(fullText));
  validateOption('step', step, required(callable));
  validateOptions(options, rules);
  const { replaysInOrder = false, unread, refuse, isCancelled } = options;
  const own = { id, replaysInOrder, unread, refuse, isCancelled };
  return Object.assign((...call: Parameters<StepFunction>) => step(...call), own);
}

const rules = {
  replaysInOrder: boolean,
  unread: callable,
  refuse: callable,
  isCancelled: callable,
} satisfies OptionTable<StepOptions>;

/**
 * Stores large bytes outside the engine. If a method rejects, this attempt of the execution ends. In an engine with
 * `refuse`, such as DBOS, the call is repeated instead.
 */
export interface BlobStore {
  /** Stores bytes. A second call with the same key replaces the bytes. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns the stored bytes, or undefined if the store has no such key. */
  get(key: string): Promise<Uint8Array | undefined>;
}

/** The data that `notify` receives when a run waits for decisions. */
export interface DecisionRequest {
  /** Identifies the wait. Pass it to the engine with the decisions. */
  readonly id: string;
  /** The calls and answers that need a decision. */
  readonly pending: readonly (PendingCall | PendingAnswer)[];
  /** The problem with the last decisions, if they were invalid. The new `id` replaces the old one. */
  readonly problem?: string | undefined;
}

/**
 * Options of a wait for decisions.
 *
 * @example
 * const options: DecisionOptions = { notify: ({ id, pending }) => saveRequest(id, pending) };
 */
export interface DecisionOptions<Request extends DecisionRequest = DecisionRequest> {
  /** Called in a step, for example to send a message or to store the `id`. May run again after a crash. */
  readonly notify: (request: Request) => Awaitable<void>;
}
