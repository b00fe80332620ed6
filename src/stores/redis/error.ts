import { describeError, KeelsonError } from '../../errors.js';

/**
 * Redis could not be reached, did not answer in time, or refused the command. `cause` is the error of the client, or a
 * TimeoutExceededError. A write may still have taken effect; read the value to find out.
 */
export class RedisUnavailableError extends KeelsonError {
  readonly code = 'ERR_REDIS_UNAVAILABLE';
  /** True if a later call may succeed. False if a key of the store holds another type of data. */
  readonly retryable: boolean;

  constructor(cause: unknown) {
    const why = describeError(cause).replace(/\.$/, '');
    const isWrongType = /\bWRONGTYPE\b/.test(why);
    const advice = isWrongType
      ? 'Another program wrote a key of the store. Use another `prefix`, or delete the key.'
      : 'Check the connection to Redis and the permissions of the Redis user.';
    super(`Redis did not run a command of the store (${why}). ${advice}`, { cause });
    this.retryable = !isWrongType;
  }
}

/** The data under `key` is damaged or has the format of another version, or JSON cannot represent an entry. */
export class RedisDataError extends KeelsonError {
  readonly code = 'ERR_REDIS_DATA';
  readonly key: string;

  constructor(key: string, problem: string, cause?: unknown) {
    super(`The data of Redis key "${key}" cannot be used: ${problem}`, { cause });
    this.key = key;
  }
}
