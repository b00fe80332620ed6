import { describeError, KeelsonError } from '../errors.js';

/** An extension cannot be registered. `problems` has one entry for each invalid member; nothing of it was stored. */
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

/** A context was used after its callback was given up, its run was over or its extension was unregistered. */
export class ExtensionExpiredError extends KeelsonError {
  readonly code = 'ERR_EXTENSION_EXPIRED';

  constructor(extension: string, operation: string) {
    super(
      `Extension "${extension}" called \`${operation}\` too late: its callback was given up, its run is over, or it was unregistered. Await the call inside the callback.`,
    );
  }
}

/** A value cannot be stored as JSON without loss. What was stored before is still there. */
export class StateValueError extends KeelsonError {
  readonly code = 'ERR_STATE_VALUE';
  readonly key: string;

  constructor(key: string, problem: string, cause?: unknown) {
    super(`State "${key}" cannot be stored: ${problem}. Store plain data, or pass a codec.`, { cause });
    this.key = key;
  }
}

/** What is stored under a key is not of the kind that was asked for. */
export class StateMismatchError extends KeelsonError {
  readonly code = 'ERR_STATE_MISMATCH';
  readonly key: string;

  constructor(key: string, problem: string, cause?: unknown) {
    super(`State "${key}" is not what was asked for: ${problem}`, { cause });
    this.key = key;
  }
}

/** A value does not fit, even with everything else of its extension gone. Nothing changed. */
export class StateLimitError extends KeelsonError {
  readonly code = 'ERR_STATE_LIMIT';
  readonly key: string;
  readonly bytes: number;

  constructor(key: string, bytes: number, limits: string) {
    super(`State "${key}" of ${bytes} bytes does not fit: ${limits}. Store less, or raise \`limits\`.`);
    this.key = key;
    this.bytes = bytes;
  }
}

/** The state store failed, or did not answer in time. */
export class StateStoreError extends KeelsonError {
  readonly code = 'ERR_STATE_STORE';
  readonly operation: string;

  constructor(operation: string, cause: unknown) {
    super(`The state store failed at \`${operation}\`: ${describeError(cause)}`, { cause });
    this.operation = operation;
  }
}
