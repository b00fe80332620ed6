import { TimeoutExceededError } from '../errors.js';
import { createDeferred } from '../internal/promise.js';

/** The time limit of one call of a store, which may send several commands. */
export class CallLimit {
  private readonly end: number;

  /** `server` is the name of the server in the error. */
  constructor(
    private readonly server: string,
    private readonly timeoutMs: number,
  ) {
    this.end = performance.now() + timeoutMs;
  }

  /** Milliseconds until the time limit of the call. */
  get leftMs(): number {
    return Math.max(0, this.end - performance.now());
  }

  /** Sends a command. At the time limit, aborts the signal and rejects with a TimeoutExceededError. */
  async within<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const abort = new AbortController();
    const late = createDeferred<never>();
    const expire = () => {
      late.reject(new TimeoutExceededError(`call to ${this.server}`, this.timeoutMs));
      abort.abort();
    };
    const timer = setTimeout(expire, this.leftMs);
    try {
      return await Promise.race([send(abort.signal), late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}
