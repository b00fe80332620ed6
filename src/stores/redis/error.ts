import { describeError, KeelsonError } from '../../errors.js';

/**
 * Redis could not be reached, did not answer in time, or refused the command. `cause` is what it or its client said, or a
 * TimeoutExceededError. Whether a write still took effect is not known: a read tells.
 */
export class RedisUnavailableError extends KeelsonError {
  readonly code = 'ERR_REDIS_UNAVAILABLE';
  /** The same may work later. */
  readonly retryable = true;

  constructor(cause: unknown) {
    const why = describeError(cause).replace(/\.$/, '');
    super(
      `Redis did not do what the store asked for (${why}). See whether it can be reached, and what its user may do.`,
      {
        cause,
      },
    );
  }
}

/** What is stored under `key` is not what a session store wrote, or a message cannot be written. Nothing was changed. */
export class RedisDataError extends KeelsonError {
  readonly code = 'ERR_REDIS_DATA';
  readonly key: string;

  constructor(key: string, problem: string, cause?: unknown) {
    super(`Redis key "${key}": ${problem}`, { cause });
    this.key = key;
  }
}
