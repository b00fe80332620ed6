import { describeError, KeelsonError } from '../errors.js';
import { LifecycleError, RejectedError } from '../lifecycle/run-failure.js';

/** An agent with a durable lifecycle lacks an option that the lifecycle needs. */
export class DurableSetupError extends KeelsonError {
  readonly code = 'ERR_DURABLE_SETUP';
}

/** The result of a step cannot be stored or restored. */
export class StepDataError extends KeelsonError {
  readonly code = 'ERR_STEP_DATA';
  /** The name of the step. */
  readonly step: string;

  constructor(step: string, problem: string, options?: { readonly cause?: unknown }) {
    super(`The result of step "${step}" ${problem}`, options);
    this.step = step;
  }
}

/** The blob store failed, so the step was neither stored nor restored. A later attempt of the execution tries again. */
export class BlobStoreError extends KeelsonError {
  readonly code = 'ERR_BLOB_STORE';
  /** The name of the step. */
  readonly step: string;
  /** The key of the bytes. */
  readonly key: string;

  constructor(step: string, key: string, cause: unknown) {
    super(`The blob store failed for the bytes "${key}" of step "${step}": ${describeError(cause)}`, { cause });
    this.step = step;
    this.key = key;
  }
}

/**
 * The program does not match the stored steps of a run, because of an incompatible new version or a hook that is not
 * deterministic.
 *
 * Thrown before any work that is not stored. The run continues with a version that matches.
 */
export class ReplayMismatchError extends KeelsonError {
  readonly code = 'ERR_REPLAY_MISMATCH';
  /** The name of the step that the program started, or `the end of the run`. */
  readonly step: string;
  /** The name of the stored step. */
  readonly stored: string;
  /** The part of the program that has changed, such as `lifecycle "audit"` or `tool "pay"`. */
  readonly part: string;

  constructor(step: string, stored: string, cause?: unknown) {
    const part = partThatEnded(cause) ?? partOf(stored) ?? partOf(step) ?? 'the code of the workflow';
    const asked = cause === undefined ? `asked for step "${step}"` : `ended the run (${describeError(cause)})`;
    super(
      `This version of the program does not fit the stored run, because of ${part}: it ${asked}, but the engine has ` +
        `stored step "${stored}". Nothing ran. Deploy a version that fits, such as the previous one. Then the run continues.`,
      cause === undefined ? undefined : { cause },
    );
    this.step = step;
    this.stored = stored;
    this.part = part;
  }
}

/** Returns the part of the program that a step name belongs to. */
function partOf(step: string): string | undefined {
  if (step.startsWith('aside ')) return 'a lifecycle that calls the model itself';
  const [, kind, name] = /^(hook|tool) (\S+)/.exec(step) ?? [];
  if (name === undefined) return undefined;
  return kind === 'tool' ? `tool "${name}"` : `lifecycle "${name.slice(0, name.lastIndexOf('.'))}"`;
}

/** Returns the part of the program that ended a run with this error. */
function partThatEnded(error: unknown): string | undefined {
  if (error instanceof RejectedError) return `lifecycle "${error.by}"`;
  if (error instanceof LifecycleError) return `lifecycle "${error.lifecycle}"`;
  return error instanceof KeelsonError ? `the options of the agent (${error.code})` : undefined;
}

/**
 * A step failed in an earlier attempt, and its error was restored from the journal. `message` is the message of the
 * original error.
 */
export class StepFailedError extends KeelsonError {
  readonly code = 'ERR_STEP_FAILED';
  /** The name of the original error's class. */
  readonly original: string;
  /** The code of the original error, if it had one. */
  readonly originalCode: string | undefined;

  constructor(message: string, original: string, originalCode: string | undefined) {
    super(message);
    this.original = original;
    this.originalCode = originalCode;
  }
}

/** The engine ended the attempt of this process before the step was stored. Another attempt continues the execution. */
export class StepLostError extends KeelsonError {
  readonly code = 'ERR_STEP_LOST';

  constructor() {
    super('The engine has ended this attempt of the execution. Another attempt continues after the last stored step.');
  }
}

/**
 * Returns true if a later attempt of the execution would end with the same error, so that the engine should not retry.
 * Considers the causes of the error too.
 *
 * Returns false for an error that is not from Keelson, a closed agent, an attempt that the engine has ended, and a
 * program that does not match the stored steps. Also false for a temporary failure of the blob store or the session
 * store.
 */
export function isFinalError(error: unknown): boolean {
  if (!(error instanceof KeelsonError)) return false;
  let cause: unknown = error;
  for (let depth = 0; cause instanceof KeelsonError && depth < MAX_CAUSES; depth += 1) {
    if (TEMPORARY.includes(cause.code)) return false;
    if (cause.code === 'ERR_SESSION_STORE' && isTemporary(cause.cause)) return false;
    cause = cause.cause;
  }
  return true;
}

/**
 * Returns true for an error of a session store that may be temporary: its `retryable` is true, or it is not from
 * Keelson.
 */
export function isTemporary(error: unknown): boolean {
  return !(error instanceof KeelsonError) || (error as { readonly retryable?: unknown }).retryable === true;
}

/** Limits the search, because causes may form a cycle. */
const MAX_CAUSES = 20;

const TEMPORARY: readonly string[] = ['ERR_AGENT_CLOSED', 'ERR_STEP_LOST', 'ERR_BLOB_STORE', 'ERR_REPLAY_MISMATCH'];
