import { describeError, KeelsonError } from '../../errors.js';

/**
 * Redis could not be reached, did not answer in time, or refused the command. `cause` is the error of the client, or a
 * TimeoutExceededError. A write may still have taken effect; read the value to find out.
 */
export class RedisUnavailableError extends KeelsonError {
  readonly code = 'ERR_REDIS_UNAVAILABLE';
  /** Always true: a later call may succeed. */
  readonly retryable = true;

  constructor(cause: unknown) {
    const why = describeError(cause).replace(/\.$/, '');
    super(
      `Redis did not run a command of the store (${why}). Check the connection to Redis and the permissions of its user.`,
      {
        cause,
      },
    );
  }
}

/** The data under `key` was not written by a session store, or a message has no JSON form. Nothing was changed. */
export class RedisDataError extends KeelsonError {
  readonly code = 'ERR_REDIS_DATA';
  readonly key: string;

  constructor(key: string, problem: string, cause?: unknown) {
    super(`Redis key "${key}": ${problem}`, { cause });
    this.key = key;
  }
}
