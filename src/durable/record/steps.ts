import type { Run } from '../../agent/run/run.js';
import { type Clock, systemClock } from '../../internal/clock.js';
import type { Ids } from '../../internal/ids.js';
import { isObject, type JsonValue } from '../../internal/json.js';
import { isPromise } from '../../internal/promise.js';
import { hookRunOf } from '../../lifecycle/hook-run/hook-run.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { StepDataError, StepLostError } from '../error.js';
import type { Step } from '../step.js';
import type { Codec } from './codec.js';
import { abortFromJson, endsRun, failureFromJson, failureToJson } from './failure.js';
import { type Execution, effectsOf, outcomeOf, type StepRecord, type StepRequest } from './recording.js';
import { ReplayCheck } from './replay-check.js';
import { applyEffects, type Effects, StepScope, stepScope } from './scope.js';
import { StepOrder } from './step-order.js';

/** The facts about the first run of an execution that its steps depend on. */
export interface StartRecord {
  /** The hooks that are steps. */
  readonly hooks: readonly string[];
}

/** The steps of one execution, with its ids and its time. Both are the same in each attempt. */
export class Steps {
  readonly ids: Ids;
  private time = 0;
  /** The clocks of the agents, by the clocks that their runs see. */
  private readonly bases = new WeakMap<Clock, Clock>();
  private readonly order: StepOrder;
  private runs = 0;
  private readonly numbers = new WeakMap<Run, number>();
  private readonly keyOf = distinctKeys();
  private started: Promise<StartRecord | null> | undefined = undefined;
  private readonly check: ReplayCheck;
  /**
   * True if another attempt continues the execution. Steps that are still running then store no error and no abort, and no
   * further step begins.
   */
  hasEnded = false;

  constructor(
    private readonly step: Step,
    private readonly codec: Codec,
  ) {
    this.ids = idsOf(step.id);
    this.order = new StepOrder(step.replaysInOrder);
    this.check = new ReplayCheck(step);
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

  /**
   * Assigns a number to a run that begins. If the agent of the run is closed, this attempt ends, and its open step stays
   * pending.
   */
  watch(run: Run): void {
    this.runs += 1;
    this.numbers.set(run, this.runs);
    const { end, config } = run;
    end.stopper().onStop(() => {
      if (config.life.stop.stopped) this.hasEnded = true;
    });
  }

  /**
   * Stores the time at which the execution began, and the facts about its first run. Later calls return the same promise.
   * Resolves with null if an older version of this library began the execution.
   */
  start(run: Run, facts: StartRecord): Promise<StartRecord | null> {
    const request = { name: 'start', key: `${this.id}:start`, kind: 'start', run } as const;
    this.started ??= this.perform<StartRecord | null>(request, async () => facts);
    return this.started;
  }

  /** See {@link RunEffects.checkEnd}. */
  checkEnd(run: Run, caught: unknown): Promise<void> | undefined {
    const { check } = this;
    if (check.hasRefused) return check.keep();
    if (this.hasEnded || !check.mayFollow(run)) return undefined;
    return check.atEnd({ run, number: this.numbers.get(run) ?? 1, caught }, (error) => this.lose(run, error));
  }

  /**
   * Runs `work` as a step, and resolves with its result as a replay would restore it. Rejects with the error of `work`, or
   * with the restored error of an earlier attempt. Aborts the run if the engine rejects the step, if the blob store fails,
   * or if the run was aborted during the step in an earlier attempt.
   */
  async perform<T>(given: StepRequest, work: () => Promise<T>): Promise<T> {
    const request = { ...given, key: this.keyOf(given) };
    const { name, key, kind, run } = request;
    if (this.hasEnded) throw this.lose(run, new StepLostError());
    let executed: Execution | undefined;
    const place = this.order.begin();
    let record: StepRecord;
    try {
      const stored = await new Promise<JsonValue>((resolve, reject) => {
        const lose = (error: unknown) => reject(this.lose(run, error));
        const execute = () => {
          executed = { lose, place };
          if (run !== undefined) this.check.begin(run);
          this.order.run(place);
          return this.execute(request, work, executed) as Promise<JsonValue>;
        };
        this.step(nameOf(request, this.numbers), execute, { key, kind }).then(resolve, lose);
      });
      record = recordOf(name, stored);
    } catch (error) {
      this.order.leave(place);
      if (run === undefined) await this.check.keep();
      throw error;
    }
    const turn = this.order.turn(place, record.number);
    if (turn !== undefined) await turn;
    this.time = Math.max(this.time, record.at);
    if (record.aborted !== undefined && run !== undefined) {
      for (const one of [run, ...runsAround(run).slice(0, record.around)]) one.end.abort(abortFromJson(record.aborted));
      throw run.end.abortError;
    }
    if (run !== undefined && record.effects !== undefined) {
      const effects = this.codec.decode(record.effects, request);
      const restored = isPromise(effects) ? await this.restored(run, effects) : effects;
      applyEffects(run, restored as Effects, executed === undefined);
    }
    if (record.error === undefined) {
      const value = this.codec.decode(record.value ?? null, request);
      return (isPromise(value) ? await this.restored(run, value) : value) as T;
    }
    if (executed !== undefined && 'error' in executed) throw executed.error;
    const error = failureFromJson(record.error);
    throw endsRun(error) && run !== undefined ? run.end.own(error) : error;
  }

  /** Never rejects. Stays pending if the next attempt must run the step again, so that nothing is stored. */
  private async execute(request: StepRequest, work: () => Promise<unknown>, executed: Execution): Promise<unknown> {
    try {
      const record = await this.recorded(request, work, executed);
      if (record !== undefined) return record;
    } catch (error) {
      executed.lose(error);
    }
    return new Promise<never>(() => {});
  }

  /**
   * Runs the function of a step, and returns its record. Returns undefined if the next attempt must run the step again.
   * Rejects with an error that must not be stored.
   */
  private async recorded(
    request: StepRequest,
    work: () => Promise<unknown>,
    executed: Execution,
  ): Promise<StepRecord | undefined> {
    const { run } = request;
    const scope = new StepScope(request.key, run);
    const recording = { request, executed, codec: this.codec };
    const outcome = await outcomeOf(recording, () => stepScope.run(scope, work));
    const stamp = () => ({ at: this.now(run), number: this.order.number(executed.place) });
    const abortError = run?.end.abortError;
    if (abortError !== undefined) {
      const around = runsAround(run).filter(({ end }) => end.abortError !== undefined).length;
      if (!this.hasEnded) return { ...stamp(), aborted: failureToJson(abortError), around };
      // The next attempt runs a step again that a close or the end of this attempt has broken off.
      if (outcome.error !== undefined) return undefined;
    }
    const effects = await effectsOf(recording, scope);
    return { ...stamp(), ...outcome, ...effects };
  }

  /** Ends this attempt if the blob store fails. Missing bytes are an error of the step instead. */
  private async restored(run: Run | undefined, value: PromiseLike<unknown>): Promise<unknown> {
    try {
      return await value;
    } catch (error) {
      throw error instanceof StepDataError ? error : this.lose(run, error);
    }
  }

  /**
   * Ends this attempt of the execution: the engine has cancelled or lost it, or a step cannot be stored. Aborts the run, and
   * returns the error to throw.
   */
  private lose(run: Run | undefined, error: unknown): unknown {
    this.hasEnded = true;
    this.check.end(error);
    if (run === undefined) return error;
    for (const one of [run, ...runsAround(run)]) one.end.abort(new RunAbortedError(error));
    return run.end.abortError;
  }

  /** A step without a run does not advance the time of the execution. */
  private now(run: Run | undefined): number {
    return run === undefined ? this.time : (this.bases.get(run.context.clock) ?? systemClock).now();
  }
}

/**
 * Adds the number of the run to the name of a step. If the steps of parallel runs change their order, because a hook is not
 * deterministic, the engine finds another name and fails, instead of mixing up the results.
 */
function nameOf({ name, run }: StepRequest, numbers: WeakMap<Run, number>): string {
  const number = (run && numbers.get(run)) ?? 1;
  return number === 1 ? name : `${name}, run ${number}`;
}

/** Returns a function that makes the keys of steps distinct. A call that is resumed has its key again. */
function distinctKeys(): (request: StepRequest) => string {
  const counts = new Map<string, number>();
  return ({ key }) => {
    const number = (counts.get(key) ?? 0) + 1;
    counts.set(key, number);
    return number === 1 ? key : `${key}#${number}`;
  };
}

/** Returns the runs around a run of this execution, the next one first. */
function runsAround(run: Run | undefined): readonly Run[] {
  const outer = hookRunOf(run?.origin.parent) as Run | undefined;
  return outer?.effects === undefined ? [] : [outer, ...runsAround(outer)];
}

/** Returns ids that are the same in each attempt. */
function idsOf(execution: string): Ids {
  let made = 0;
  return {
    next(kind) {
      const scope = stepScope.getStore();
      // Ids inside of a step depend on its key, so that a step that runs again generates the same ids.
      if (scope !== undefined) return `${kind}_${scope.key}_${++scope.ids}`;
      return `${kind}_${execution}_${++made}`;
    },
  };
}

function recordOf(name: string, stored: JsonValue): StepRecord {
  const isRecord = isObject(stored) && typeof stored.at === 'number' && typeof stored.number === 'number';
  if (isRecord) return stored as unknown as StepRecord;
  throw new StepDataError(name, `is not a stored step: the engine gave ${JSON.stringify(stored)?.slice(0, 100)}`);
}
