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

/** One call of something that an extension brought along. */
export interface CallbackCall<Result> {
  readonly name: CallbackName | 'condition';
  readonly call: (callback: Callback) => unknown;
  /** Takes what was returned; throws where it is of the wrong kind. */
  readonly accept: (returned: unknown) => Result;
}

/**
 * Calls it within its time. What goes wrong is logged, and gives undefined; so does an extension that is unregistered
 * meanwhile. Throws only where the run was aborted.
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

/** One call of an extension on its way: until when it counts, and what it may reach. */
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

  /** The signal of this call. */
  get signal(): AbortSignal {
    return this.follow().signal;
  }

  /** The outcome of what was returned, the abort of the run, or the end of its time; what comes first. */
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

  /** Nothing that it does from now on counts. */
  giveUp(): void {
    this.isGivenUp = true;
  }

  /** Lets go of the run's signal. */
  settle(): void {
    this.isSettled = true;
    this.stop?.release();
  }

  /** Throws where a call of the context comes too late. */
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

  /** What stops with the run, made on first use: most callbacks neither wait nor look at their signal. */
  private follow(): Stop {
    if (this.stop === undefined) {
      this.stop = new Stop();
      if (!this.isSettled) this.stop.follow(this.run.run.signal);
    }
    return this.stop;
  }
}
