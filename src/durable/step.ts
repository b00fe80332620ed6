import type { PendingAnswer, PendingCall } from '../agent/run-result.js';
import type { JsonValue } from '../internal/json.js';
import { boolean, callable, fullText, required } from '../internal/options/rules.js';
import { type OptionTable, validateOption, validateOptions } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import type { ReplayMismatchError } from './error.js';

/** Facts about one step, passed to the step function of an engine. */
export interface StepInfo {
  /**
   * Identifies the step among all steps of all executions. The same in each attempt. A tool receives the key of its
   * call as `idempotencyKey`.
   */
  readonly key: string;
  /**
   * The kind of work that the step does, such as a model call, a tool call, a wait before a retry, or access to a
   * session store.
   */
  readonly kind: 'start' | 'model' | 'tool' | 'hook' | 'tools' | 'wait' | 'session';
}

/**
 * Runs one step of a durable engine, which calls `run` and stores its result. Resolves with the stored result. If the
 * result was stored in an earlier attempt, resolves with it and does not call `run`.
 *
 * `run` never rejects, because its result also describes failures. `run` stays pending if the agent is closed or the
 * blob store fails, so that nothing is stored.
 *
 * Several steps may run at the same time. If the promise of a step rejects, the run of the agent is aborted.
 */
export interface Step extends StepFunction {
  /** Identifies the execution. The same in each attempt. Ids of runs and of new sessions contain it. */
  readonly id: string;
  /** True if the engine returns results in their original order itself. See {@link StepOptions}. */
  readonly replaysInOrder?: boolean | undefined;
  /** Returns the names of the stored steps that this attempt has not started. See {@link StepOptions}. */
  readonly unread?: (() => Awaitable<readonly string[]>) | undefined;
  /** Called when the program does not match the stored steps. See {@link StepOptions}. */
  readonly refuse?: ((error: ReplayMismatchError) => Promise<never>) | undefined;
  /** Returns true for the error of a cancelled execution. See {@link StepOptions}. */
  readonly isCancelled?: ((error: unknown) => boolean) | undefined;
}

/** Options of {@link defineStep}. */
export interface StepOptions {
  /**
   * Set this to true if the engine returns results in their original order itself, and calls `run` only after it has
   * returned all stored results. Restate does this.
   *
   * If false, a replay delays results to restore their original order. Each result waits until the engine has returned
   * a stored result or called `run` for every other running step. Default: false.
   */
  readonly replaysInOrder?: boolean | undefined;
  /**
   * Returns the names of the stored steps that this attempt has not started, in order. If a run ends although one of
   * its stored steps is left, it fails with a ReplayMismatchError. Default: the engine compares by itself.
   */
  readonly unread?: (() => Awaitable<readonly string[]>) | undefined;
  /**
   * Called when the program does not match the stored steps, before the run is aborted. Return a promise that stays
   * pending if an error would make the engine end the execution.
   *
   * With such an engine, calls of a session store or blob store that fail temporarily are repeated within the same
   * attempt. Default: the run is aborted.
   */
  readonly refuse?: ((error: ReplayMismatchError) => Promise<never>) | undefined;
  /**
   * Returns true if the engine rejected a step because the execution was cancelled. The run then gives up its session,
   * because no attempt follows. Default: the run keeps the session for the next attempt.
   */
  readonly isCancelled?: ((error: unknown) => boolean) | undefined;
}

/**
 * Runs one step of a durable engine: calls `run`, and stores its result under `name`. See {@link Step} for the rules.
 */
export type StepFunction = (name: string, run: () => Promise<JsonValue>, options: StepInfo) => Promise<JsonValue>;

/**
 * Creates the steps for your own engine from the id of an execution and a function that runs one step.
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
 * Stores large byte arrays outside the engine. If a method rejects, this attempt of the execution ends. With an engine
 * that has `refuse`, such as DBOS, the call is repeated instead.
 */
export interface BlobStore {
  /** Stores bytes. A second call with the same key replaces the bytes. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Returns the stored bytes, or undefined if the store does not have the key. */
  get(key: string): Promise<Uint8Array | undefined>;
}

/** The data that your callback `notify` receives when a run waits for decisions on tool calls. */
export interface DecisionRequest {
  /** Pass this id to the engine together with the decisions. */
  readonly id: string;
  /** The tool calls and answers that wait for a decision. */
  readonly pending: readonly (PendingCall | PendingAnswer)[];
  /** The problem with the decisions that were sent before, if they were invalid. Send new ones with the new `id`. */
  readonly problem?: string | undefined;
}

/**
 * Options for waiting until somebody has decided on pending tool calls.
 *
 * @example
 * const options: DecisionOptions = { notify: ({ id, pending }) => saveRequest(id, pending) };
 */
export interface DecisionOptions<Request extends DecisionRequest = DecisionRequest> {
  /**
   * Tells somebody about the pending calls, for example by sending a message or storing the `id`. Runs in a step, and
   * may run again after a crash.
   */
  readonly notify: (request: Request) => Awaitable<void>;
}
