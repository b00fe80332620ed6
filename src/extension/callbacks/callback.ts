import { describeError, TimeoutExceededError } from '../../errors.js';
import { type Awaitable, isPromise } from '../../internal/promise.js';
import { Stop } from '../../internal/stop.js';
import type { StateScope } from '../../state/state-store.js';
import { EXTENSION_CALLBACK_DURATION_MS, EXTENSION_CALLBACK_TOTAL } from '../../telemetry/metric-names.js';
import { ExtensionExpiredError } from '../error.js';
import { CALLBACK_TYPES, type CallbackName } from '../metrics.js';
import type { Registration } from '../registration.js';
import type { ExtensionRun } from '../run.js';
import { isShortCircuit } from '../short-circuit.js';
import type { StateSite } from '../state/extension-state.js';

/** A call of a callback or condition of an extension. */
export interface CallbackCall<Result> {
  readonly name: CallbackName | 'condition';
  readonly call: (callback: Callback) => unknown;
  /** Returns the checked result. Throws if the returned value is of the wrong type. */
  readonly accept: (returned: unknown) => Result;
}

/**
 * Calls a callback within its time limit. Logs a failure and returns undefined. Also returns undefined if the extension
 * was unregistered in the meantime. Throws only if the run was aborted.
 */
export async function runCallback<Result>(
  run: ExtensionRun,
  registration: Registration,
  { name, call, accept }: CallbackCall<Result>,
): Promise<Result | undefined> {
  if (registration.removed) return undefined;
  const callback = new Callback(run, registration, name);
  const { clock } = run.run;
  const startedAt = clock.now();
  let outcome = 'error';
  try {
    const returned = await callback.bound(call(callback));
    run.throwIfAborted();
    if (registration.removed) return undefined;
    const result = accept(returned);
    outcome = isShortCircuit(returned) ? 'short_circuit' : 'success';
    return result;
  } catch (error) {
    callback.giveUp();
    run.throwIfAborted();
    callback.report(error);
    return undefined;
  } finally {
    callback.settle();
    const durationMs = clock.now() - startedAt;
    report(run, { name, extension_id: registration.extension.id, outcome, durationMs });
  }
}

interface CallbackOutcome {
  readonly name: CallbackName | 'condition';
  readonly extension_id: string;
  readonly outcome: string;
  readonly durationMs: number;
}

function report({ settings }: ExtensionRun, { name, extension_id, outcome, durationMs }: CallbackOutcome): void {
  if (name === 'condition') return;
  const labels = { callback_type: CALLBACK_TYPES[name], extension_id };
  settings.metrics.measure(EXTENSION_CALLBACK_DURATION_MS, durationMs, labels);
  settings.metrics.count(EXTENSION_CALLBACK_TOTAL, { ...labels, outcome });
}

/** A running callback, with its time limit, its abort signal and its state scope. */
export class Callback {
  private stop: Stop | undefined = undefined;
  private isSettled = false;
  private isGivenUp = false;

  constructor(
    readonly run: ExtensionRun,
    readonly registration: Registration,
    readonly name: CallbackName | 'condition',
  ) {}

  get id(): string {
    return this.registration.extension.id;
  }

  get scope(): StateScope {
    return { extension: this.id, session: this.run.sessionId };
  }

  get site(): StateSite {
    return { clock: this.run.run.clock, logger: this.run.logger };
  }

  get signal(): AbortSignal {
    return this.follow().signal;
  }

  /** Waits for the callback's promise. Rejects if the run aborts or the time limit passes first. */
  async bound(returned: unknown): Promise<unknown> {
    if (!isPromise(returned)) return returned;
    const { clock } = this.run.run;
    const { timeoutMs } = this.run.settings;
    const stop = this.follow();
    const expire = () => stop.stop(new TimeoutExceededError(`${this.name} of extension "${this.id}"`, timeoutMs));
    const timer = clock.setTimeout(expire, timeoutMs);
    stop.whenReleased(() => clock.clearTimeout(timer));
    return stop.race(returned as Awaitable<unknown>);
  }

  /** Makes the state methods of the callback's context reject from now on. */
  giveUp(): void {
    this.isGivenUp = true;
  }

  /** Clears the timer and stops listening to the run's signal. */
  settle(): void {
    this.isSettled = true;
    this.stop?.release();
  }

  /** Throws ExtensionExpiredError if the callback has failed, its run has ended or its extension is unregistered. */
  assertGood(operation: string): void {
    const isOver = this.isGivenUp || this.stop?.stopped || this.run.over;
    if (isOver || this.registration.removed) throw new ExtensionExpiredError(this.id, operation);
  }

  report(error: unknown): void {
    const { sessionId: session, logger } = this.run;
    const details = { extensionId: this.id, callback: this.name, session, error };
    logger.error(
      `Extension "${this.id}": ${this.name} failed in session "${session}": ${describeError(error)}`,
      details,
    );
  }

  /** Created on first use, because most callbacks neither return a promise nor read their signal. */
  private follow(): Stop {
    if (this.stop === undefined) {
      this.stop = new Stop();
      if (!this.isSettled) this.stop.follow(this.run.run.signal);
    }
    return this.stop;
  }
}
