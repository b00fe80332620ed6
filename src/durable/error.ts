import { describeError, KeelsonError } from '../errors.js';
import { LifecycleError, RejectedError } from '../lifecycle/run-failure.js';

/**
 * The agent is not set up for durable runs. For example, it lacks the options of `durable().options`, or an option
 * names a lifecycle that the agent does not have.
 */
export class DurableSetupError extends KeelsonError {
  readonly code = 'ERR_DURABLE_SETUP';
}

/** The result of a step cannot be stored as JSON, or cannot be restored. */
export class StepDataError extends KeelsonError {
  readonly code = 'ERR_STEP_DATA';
  /** The name of the step, such as `model 2`. */
  readonly step: string;

  constructor(step: string, problem: string, options?: { readonly cause?: unknown }) {
    super(`The result of step "${step}" ${problem}`, options);
    this.step = step;
  }
}

/**
 * The blob store failed, so the result of a step was neither stored nor restored. A later attempt of the execution
 * tries again.
 */
export class BlobStoreError extends KeelsonError {
  readonly code = 'ERR_BLOB_STORE';
  /** The name of the step, such as `model 2`. */
  readonly step: string;
  /** The key of the bytes in the blob store. */
  readonly key: string;

  constructor(step: string, key: string, cause: unknown) {
    super(`The blob store failed for the bytes "${key}" of step "${step}": ${describeError(cause)}`, { cause });
    this.step = step;
    this.key = key;
  }
}

/**
 * The program does not match the stored steps of a run. The cause is a new version of the program that takes other
 * steps, or a hook that is not deterministic.
 *
 * Thrown before any new work is done, so nothing is lost: a matching version of the program can continue the run.
 */
export class ReplayMismatchError extends KeelsonError {
  readonly code = 'ERR_REPLAY_MISMATCH';
  /** The name of the step that the program started, or `the end of the run` if the program ended the run instead. */
  readonly step: string;
  /** The name of the step that the engine has stored in its place. */
  readonly stored: string;
  /** The likely cause of the mismatch, such as `lifecycle "audit"` or `tool "pay"`. */
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

/** Returns the lifecycle or tool that a step name mentions, in words. */
function partOf(step: string): string | undefined {
  if (step.startsWith('aside ')) return 'a lifecycle that calls the model itself';
  const [, kind, name] = /^(hook|tool) (\S+)/.exec(step) ?? [];
  if (name === undefined) return undefined;
  return kind === 'tool' ? `tool "${name}"` : `lifecycle "${name.slice(0, name.lastIndexOf('.'))}"`;
}

/**
 * Returns the lifecycle or the options that ended a run with this error, in words. Undefined if the error does not
 * tell.
 */
function partThatEnded(error: unknown): string | undefined {
  if (error instanceof RejectedError) return `lifecycle "${error.by}"`;
  if (error instanceof LifecycleError) return `lifecycle "${error.lifecycle}"`;
  return error instanceof KeelsonError ? `the options of the agent (${error.code})` : undefined;
}

/**
 * The error of a step that failed in an earlier attempt, as restored from the stored result. `message` is the message
 * of the original error.
 */
export class StepFailedError extends KeelsonError {
  readonly code = 'ERR_STEP_FAILED';
  /** The name of the class of the original error, such as `TypeError`. */
  readonly original: string;
  /** The code of the original error, if it had one. */
  readonly originalCode: string | undefined;

  constructor(message: string, original: string, originalCode: string | undefined) {
    super(message);
    this.original = original;
    this.originalCode = originalCode;
  }
}

/** The engine ended this attempt before the result of the step was stored. Another attempt continues the execution. */
export class StepLostError extends KeelsonError {
  readonly code = 'ERR_STEP_LOST';

  constructor() {
    super('The engine has ended this attempt of the execution. Another attempt continues after the last stored step.');
  }
}

/**
 * Returns true if every further attempt of the execution would end with the same error, so that the engine should not
 * retry. Also checks the causes of the error.
 *
 * Returns false for an error from other code than Keelson, for a closed agent, and for an attempt that the engine has
 * ended. Also false if the program does not match the stored steps, or if the blob store or the session store failed
 * temporarily.
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
 * Returns true if a session store may succeed on another try: the error has `retryable: true`, or it does not come from
 * Keelson.
 */
export function isTemporary(error: unknown): boolean {
  return !(error instanceof KeelsonError) || (error as { readonly retryable?: unknown }).retryable === true;
}

/** The largest number of causes to check, because causes may form a cycle. */
const MAX_CAUSES = 20;

const TEMPORARY: readonly string[] = ['ERR_AGENT_CLOSED', 'ERR_STEP_LOST', 'ERR_BLOB_STORE', 'ERR_REPLAY_MISMATCH'];
