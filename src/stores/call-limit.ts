import { TimeoutExceededError } from '../errors.js';
import { createDeferred } from '../internal/promise.js';

/** The time limit of one store call. All commands that the call sends share it. */
export class CallLimit {
  private readonly end: number;

  /** `server` names the server in the error message, for example `Redis`. */
  constructor(
    private readonly server: string,
    private readonly timeoutMs: number,
  ) {
    this.end = performance.now() + timeoutMs;
  }

  /** Milliseconds that are left until the time limit. 0 after it. */
  get leftMs(): number {
    return Math.max(0, this.end - performance.now());
  }

  /** Runs `send`. At the time limit, aborts its signal and rejects with a TimeoutExceededError. */
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
