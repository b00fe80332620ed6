import { describeError, KeelsonError } from '../errors.js';

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

/** The blob store failed, so the step is neither stored nor restored. A later attempt of the execution tries again. */
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

/** A replay asked for another step than the journal holds: a hook or a tool list changed between two attempts. */
export class ReplayMismatchError extends KeelsonError {
  readonly code = 'ERR_REPLAY_MISMATCH';
  /** The name of the step that the replay asked for. */
  readonly step: string;
  /** The name of the stored step. */
  readonly stored: string;

  constructor(step: string, stored: string) {
    super(
      `The replay asked for step "${step}", but the journal holds "${stored}". ` +
        'Make the hooks of the agent deterministic, or name their lifecycle in `durable({ hooks })`.',
    );
    this.step = step;
    this.stored = stored;
  }
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
 * False for an error that is not from Keelson. Also false for a closed agent, for an attempt that the engine has ended, and
 * for a temporary failure of the blob store or of the session store. The causes of the error count too.
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

/** Returns true for an error of a session store that may not recur: it is `retryable`, or it is not from Keelson. */
export function isTemporary(error: unknown): boolean {
  return !(error instanceof KeelsonError) || (error as { readonly retryable?: unknown }).retryable === true;
}

/** Ends the search in a cycle of causes. */
const MAX_CAUSES = 20;

const TEMPORARY: readonly string[] = ['ERR_AGENT_CLOSED', 'ERR_STEP_LOST', 'ERR_BLOB_STORE'];
