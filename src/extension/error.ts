import { describeError, KeelsonError } from '../errors.js';

/** An extension cannot be registered. `problems` has one sentence for each mistake in it. The registry is unchanged. */
export class ExtensionInvalidError extends KeelsonError {
  readonly code = 'ERR_EXTENSION_INVALID';
  readonly extension: string;
  readonly problems: readonly string[];

  constructor(extension: string, problems: readonly string[]) {
    super(`Extension "${extension}" is not valid: ${problems.join('; ')}`);
    this.extension = extension;
    this.problems = problems;
  }
}

/** A state method was called after the callback's time limit, after its run, or after `unregister`. */
export class ExtensionExpiredError extends KeelsonError {
  readonly code = 'ERR_EXTENSION_EXPIRED';

  constructor(extension: string, operation: string) {
    super(
      `Extension "${extension}" called \`${operation}\` too late: its callback failed or timed out, its run has ended, or it was unregistered. Await the call inside the callback.`,
    );
  }
}

/** A value cannot be stored as JSON without loss. The value stored before is unchanged. */
export class StateValueError extends KeelsonError {
  readonly code = 'ERR_STATE_VALUE';
  readonly key: string;

  constructor(key: string, problem: string, cause?: unknown) {
    super(`State "${key}" cannot be stored: ${problem}. Store plain data, or pass a codec.`, { cause });
    this.key = key;
  }
}

/** The schema or codec that was passed to `getState` refuses the stored value. */
export class StateMismatchError extends KeelsonError {
  readonly code = 'ERR_STATE_MISMATCH';
  readonly key: string;

  constructor(key: string, problem: string, cause?: unknown) {
    super(`State "${key}" does not match the schema or codec of \`getState\`: ${problem}`, { cause });
    this.key = key;
  }
}

/** A value exceeds the limits even if its extension had no other value. The stored state is unchanged. */
export class StateLimitError extends KeelsonError {
  readonly code = 'ERR_STATE_LIMIT';
  readonly key: string;
  readonly bytes: number;

  constructor(key: string, bytes: number, limits: string) {
    super(`State "${key}" of ${bytes} bytes exceeds the limits: ${limits}. Store less, or raise \`limits\`.`);
    this.key = key;
    this.bytes = bytes;
  }
}

/** The state store failed or exceeded `stateTimeoutMs`. */
export class StateStoreError extends KeelsonError {
  readonly code = 'ERR_STATE_STORE';
  readonly operation: string;

  constructor(operation: string, cause: unknown) {
    super(`The state store failed at \`${operation}\`: ${describeError(cause)}`, { cause });
    this.operation = operation;
  }
}
