import { TimeoutExceededError } from '../../errors.js';
import { isPromise } from '../../internal/promise.js';
import { Stop } from '../../internal/stop.js';
import type { StateScope } from '../../state/state-store.js';
import type { ExtensionContext } from '../context.js';
import { ExtensionExpiredError, StateStoreError } from '../error.js';
import type { CallbackName } from '../metrics.js';
import type { Registration } from '../registration.js';
import type { ExtensionRun } from '../run.js';
import { isShortCircuit } from '../short-circuit.js';
import type { StateSite } from '../state/store-calls.js';
import { CallbackContext } from './callback-context.js';

/** A call of a callback or condition of an extension. */
export interface CallbackCall<Result> {
  readonly name: CallbackName;
  readonly call: (context: ExtensionContext) => unknown;
  /** Returns the checked result. Throws if the returned value is of the wrong type. */
  readonly accept: (returned: unknown) => Result;
}

/**
 * Calls a callback within its time limit. Resolves to undefined if the callback fails, which is logged, or if its
 * extension is unregistered or set aside.
 *
 * Rejects only if the run was aborted, or if the state store failed and `onStateFailure` is `throw`.
 */
export async function runCallback<Result>(
  run: ExtensionRun,
  registration: Registration,
  call: CallbackCall<Result>,
): Promise<Result | undefined> {
  if (registration.removed || registration.health.isPaused(run)) return undefined;
  const callback = new Callback(run, registration, call.name);
  try {
    const returned = call.call(new CallbackContext(callback));
    const result = callback.succeed(call, isPromise(returned) ? await callback.bound(returned) : returned);
    callback.settle();
    return result;
  } catch (error) {
    return callback.fail(error);
  }
}

class Callback {
  private readonly startedAt: number;
  private stop: Stop | undefined = undefined;
  private isSettled = false;
  private isGivenUp = false;

  constructor(
    readonly run: ExtensionRun,
    readonly registration: Registration,
    readonly name: CallbackName,
  ) {
    this.startedAt = this.now();
  }

  get id(): string {
    return this.registration.extension.id;
  }

  get scope(): StateScope {
    return { extension: this.id, session: this.run.sessionId };
  }

  get site(): StateSite {
    return this.run.site;
  }

  get signal(): AbortSignal {
    return this.follow().signal;
  }

  /** Waits for the callback's promise. Rejects if the run aborts or the time limit passes first. */
  async bound(returned: PromiseLike<unknown>): Promise<unknown> {
    const { run } = this;
    const { clock } = run.run;
    const timeoutMs = Math.max(1, Math.min(run.settings.timeoutMs, run.leftMs));
    const stop = this.follow();
    const expire = () => {
      run.leftMs -= timeoutMs;
      stop.stop(new TimeoutExceededError(`${this.name} of extension "${this.id}"`, timeoutMs));
    };
    const timer = clock.setTimeout(expire, timeoutMs);
    stop.whenReleased(() => clock.clearTimeout(timer));
    return stop.race(returned);
  }

  succeed<Result>(call: CallbackCall<Result>, returned: unknown): Result | undefined {
    const { run, registration } = this;
    run.throwIfAborted();
    if (registration.removed) {
      this.report('error');
      return undefined;
    }
    const result = call.accept(returned);
    registration.health.succeed();
    this.report(isShortCircuit(returned) ? 'short_circuit' : 'success');
    return result;
  }

  /** Logs a failure, and makes the state methods of the callback's context reject from now on. */
  fail(error: unknown): undefined {
    const { run, registration } = this;
    this.isGivenUp = true;
    this.settle();
    this.report('error');
    run.throwIfAborted();
    run.logFailure(this, error);
    registration.health.fail(run, this.name);
    if (error instanceof StateStoreError && run.settings.onStateFailure === 'throw') throw error;
  }

  settle(): void {
    this.isSettled = true;
    this.stop?.release();
  }

  /** Throws ExtensionExpiredError if the callback has failed, its run has ended or its extension is unregistered. */
  assertGood(operation: string): void {
    const isOver = this.isGivenUp || this.stop?.stopped || this.run.over;
    if (isOver || this.registration.removed) throw new ExtensionExpiredError(this.id, operation);
  }

  private report(outcome: string): void {
    this.run.settings.metrics.called({
      name: this.name,
      id: this.id,
      outcome,
      durationMs: this.now() - this.startedAt,
    });
  }

  private now(): number {
    return this.run.run.clock.now();
  }

  /** Returns the stop request of the callback. Created on first use, because most callbacks need none. */
  private follow(): Stop {
    if (this.stop === undefined) {
      this.stop = new Stop();
      if (!this.isSettled) this.stop.follow(this.run.run.signal);
    }
    return this.stop;
  }
}
