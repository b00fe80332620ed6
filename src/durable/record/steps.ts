import type { Run } from '../../agent/run/run.js';
import { type Clock, systemClock } from '../../internal/clock.js';
import type { Ids } from '../../internal/ids.js';
import { isObject, type JsonValue } from '../../internal/json.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { StepDataError } from '../error.js';
import type { Step, StepInfo } from '../step.js';
import type { Codec } from './codec.js';
import { abortFromJson, endsRun, type FailureJson, failureFromJson, failureToJson } from './failure.js';
import { applyEffects, type Effects, StepScope, stepScope } from './scope.js';

/** A step to run. */
export interface StepRequest extends StepInfo {
  readonly name: string;
  /** The run that the step belongs to. */
  readonly run?: Run | undefined;
}

/** The JSON value that the engine stores for a step. */
interface StepRecord {
  /** Time at the end of the step, in milliseconds since the epoch. */
  readonly at: number;
  readonly value?: JsonValue;
  readonly error?: FailureJson;
  /** The error of a run that was aborted during the step. */
  readonly aborted?: FailureJson;
  readonly effects?: JsonValue;
}

/** The steps of one execution, with its ids and its time. Both are the same in each attempt. */
export class Steps {
  readonly ids: Ids;
  private time = 0;
  /** The clocks of the agents, by the clocks that their runs see. */
  private readonly bases = new WeakMap<Clock, Clock>();
  private made = 0;
  private started: Promise<unknown> | undefined = undefined;
  /** True after the engine rejected a step. Steps that are still running then store nothing. */
  private isLost = false;

  constructor(
    private readonly step: Step,
    private readonly codec: Codec,
  ) {
    this.ids = { next: (kind) => this.nextId(kind) };
  }

  get id(): string {
    return this.step.id;
  }

  /** Returns a clock with the time of the execution. Timers, and the time inside of steps, come from the clock `base`. */
  clockOver(base: Clock): Clock {
    const clock: Clock = {
      // Inside of a step the time is real, because the step is not replayed.
      now: () => (stepScope.getStore() === undefined ? this.time : base.now()),
      setTimeout: (callback, ms) => base.setTimeout(callback, ms),
      clearTimeout: (handle) => base.clearTimeout(handle),
    };
    this.bases.set(clock, base);
    return clock;
  }

  /** True if the ids and the clock of a run are those of this execution. */
  owns({ ids, clock }: RunContext): boolean {
    return ids === this.ids && this.bases.has(clock);
  }

  /** Stores the time at which the execution began. Later calls return the same promise. */
  start(run: Run): Promise<unknown> {
    this.started ??= this.perform({ name: 'start', key: `${this.id}:start`, kind: 'start', run }, async () => null);
    return this.started;
  }

  /**
   * Runs `work` as a step, and resolves with its result as a replay would restore it. Rejects with the error of `work`, or
   * with the restored error of an earlier attempt. Aborts the run if the engine rejects the step, or if the run was aborted
   * during the step in an earlier attempt.
   */
  async perform<T>(request: StepRequest, work: () => Promise<T>): Promise<T> {
    const { name, key, kind, run } = request;
    let executed: { error?: unknown } | undefined;
    const execute = async () => {
      executed = {};
      return (await this.execute(request, work, executed)) as unknown as JsonValue;
    };
    const record = recordOf(name, await this.inEngine(run, this.step(name, execute, { key, kind })));
    this.time = Math.max(this.time, record.at);
    if (record.aborted !== undefined && run !== undefined) {
      run.end.abort(abortFromJson(record.aborted));
      throw run.end.abortError;
    }
    if (run !== undefined && record.effects !== undefined) {
      const effects = (await this.codec.decode(record.effects, request)) as Effects;
      applyEffects(run, effects, executed === undefined);
    }
    if (record.error === undefined) return (await this.codec.decode(record.value ?? null, request)) as T;
    if (executed !== undefined && 'error' in executed) throw executed.error;
    const error = failureFromJson(record.error);
    throw endsRun(error) && run !== undefined ? run.end.own(error) : error;
  }

  private async execute(
    request: StepRequest,
    work: () => Promise<unknown>,
    executed: { error?: unknown },
  ): Promise<StepRecord> {
    const { key, run } = request;
    const scope = new StepScope(key, run);
    const record: { -readonly [Member in keyof StepRecord]: StepRecord[Member] } = { at: 0 };
    try {
      record.value = await this.codec.encode(await stepScope.run(scope, work), request);
    } catch (error) {
      executed.error = error;
      record.error = failureToJson(error);
    }
    const abortError = run?.end.abortError;
    if (run !== undefined && abortError !== undefined) {
      if (!this.isLost && !run.config.life.stop.stopped)
        return { at: this.now(run), aborted: failureToJson(abortError) };
      // The next attempt runs a step again that a close or the end of this attempt has broken off.
      if (record.error !== undefined) return await new Promise<never>(() => {});
    }
    const effects = scope.effects();
    if (effects !== undefined) record.effects = await this.codec.encode(effects, { ...request, key: `${key}:effects` });
    record.at = this.now(run);
    return record;
  }

  /** An engine that rejects a step has cancelled or lost the execution, so the run cannot go on in this process. */
  private async inEngine(run: Run | undefined, stored: Promise<JsonValue>): Promise<JsonValue> {
    try {
      return await stored;
    } catch (error) {
      this.isLost = true;
      if (run === undefined) throw error;
      run.end.abort(new RunAbortedError(error));
      throw run.end.abortError;
    }
  }

  /** A step without a run does not advance the time of the execution. */
  private now(run: Run | undefined): number {
    return run === undefined ? this.time : (this.bases.get(run.context.clock) ?? systemClock).now();
  }

  private nextId(kind: string): string {
    const scope = stepScope.getStore();
    // Ids inside of a step depend on its key, so that a step that runs again generates the same ids.
    if (scope !== undefined) return `${kind}_${scope.key}_${++scope.ids}`;
    return `${kind}_${this.id}_${++this.made}`;
  }
}

function recordOf(name: string, stored: JsonValue): StepRecord {
  if (isObject(stored) && typeof stored.at === 'number') return stored as unknown as StepRecord;
  throw new StepDataError(name, `is not a stored step: the engine gave ${JSON.stringify(stored)?.slice(0, 100)}`);
}
