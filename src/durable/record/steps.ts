import type { Run } from '../../agent/run/run.js';
import type { Ids } from '../../internal/ids.js';
import { isObject, type JsonValue } from '../../internal/json.js';
import { isPromise } from '../../internal/promise.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { StepDataError, StepLostError } from '../error.js';
import type { Step } from '../step.js';
import type { Codec } from './codec.js';
import { ExecutionTime } from './execution-time.js';
import { abortFromJson, endsRun, failureFromJson, failureToJson } from './failure.js';
import { type Execution, effectsOf, outcomeOf, type StepRecord, type StepRequest } from './recording.js';
import { ReplayCheck } from './replay-check.js';
import { RunStops, withRunsAround } from './run-stops.js';
import { applyEffects, type Effects, StepScope, stepScope } from './scope.js';
import { StepOrder } from './step-order.js';

/** Facts about the first run of an execution. Its steps depend on them. */
export interface StartRecord {
  /** The hooks that are steps. */
  readonly hooks: readonly string[];
}

/** The steps of one execution, with its ids and its time. Both are the same in each attempt. */
export class Steps {
  readonly ids: Ids;
  readonly time = new ExecutionTime();
  private readonly order: StepOrder;
  private runs = 0;
  private readonly numbers = new WeakMap<Run, number>();
  private readonly keyOf = distinctKeys();
  private started: Promise<StartRecord | null> | undefined = undefined;
  private readonly check: ReplayCheck;
  readonly stops = new RunStops();
  /**
   * True if another attempt continues the execution. Then running steps store no error and no abort, and no further
   * step begins.
   */
  hasEnded = false;
  /** True if the engine has cancelled the execution, so that no attempt follows. */
  isCancelled = false;

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

  /** True if the ids and the clock of a run belong to this execution. */
  owns({ ids, clock }: RunContext): boolean {
    return ids === this.ids && this.time.has(clock);
  }

  /**
   * Assigns a number to a new run. If the agent of the run is closed, this attempt ends, and its open step stays
   * pending.
   */
  watch(run: Run): void {
    this.runs += 1;
    this.numbers.set(run, this.runs);
    this.stops.add(run);
    const { end, config } = run;
    end.stopper().onStop(() => {
      if (config.life.stop.stopped) this.hasEnded = true;
    });
  }

  /**
   * Stores the time at which the execution began, and facts about its first run. Later calls return the same promise.
   *
   * Resolves with null if an older version of this library began the execution.
   */
  start(run: Run, facts: StartRecord): Promise<StartRecord | null> {
    const request = { name: 'start', key: `${this.id}:start`, kind: 'start', run } as const;
    this.started ??= this.perform<StartRecord | null>(request, async () => facts);
    return this.started;
  }

  /**
   * Implements {@link RunEffects.checkEnd}. Waits until the engine has stored the steps in which the run was aborted.
   */
  checkEnd(run: Run, caught: unknown): Promise<unknown> | undefined {
    const { check } = this;
    if (check.hasRefused) return check.keep();
    if (this.hasEnded) return undefined;
    if (run.end.abortError !== undefined) return this.stops.stored(run, this.time.baseOf(run));
    if (!check.mayFollow(run)) return undefined;
    return check.atEnd({ run, number: this.numbers.get(run) ?? 1, caught }, (error) => this.lose(run, error));
  }

  /**
   * Runs `work` as a step. Resolves with its result in the form that a replay restores. Rejects with the error of
   * `work`, or with the restored error of an earlier attempt.
   *
   * Aborts the run if the engine rejects the step, if the blob store fails, or if the run was aborted during this step
   * in an earlier attempt.
   */
  async perform<T>(given: StepRequest, work: () => Promise<T>): Promise<T> {
    const request = { ...given, key: this.keyOf(given) };
    const { name, run } = request;
    if (this.hasEnded) throw this.lose(run, new StepLostError());
    let executed: Execution | undefined;
    const place = this.order.begin();
    let record: StepRecord;
    try {
      const stored = await this.stored(request, (lose) => {
        executed = { lose, place };
        if (run !== undefined) this.check.begin(run);
        this.order.run(place);
        return this.execute(request, work, executed) as Promise<JsonValue>;
      });
      record = recordOf(name, stored);
    } catch (error) {
      this.order.leave(place);
      if (run === undefined) await this.check.keep();
      throw error;
    }
    const turn = this.order.turn(place, record.number);
    if (turn !== undefined) await turn;
    this.time.advance(record.at);
    if (record.aborted !== undefined && run !== undefined) {
      const runs = withRunsAround(run).slice(0, 1 + (record.around ?? 0));
      for (const one of runs) one.end.abort(abortFromJson(record.aborted));
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

  /** Resolves with the stored value of a step. Rejects if the engine rejects the step, or if `execute` calls `lose`. */
  private stored(
    request: StepRequest,
    execute: (lose: (error: unknown) => void) => Promise<JsonValue>,
  ): Promise<JsonValue> {
    const { key, kind, run } = request;
    const storing = new Promise<JsonValue>((resolve, reject) => {
      const lose = (error: unknown) => reject(this.lose(run, error));
      this.step(nameOf(request, this.numbers), () => execute(lose), { key, kind }).then(resolve, lose);
    });
    if (run !== undefined) this.stops.follow(run, storing);
    return storing;
  }

  /**
   * Runs the function of a step for the engine. Never rejects. Stays pending if the next attempt must run the step
   * again, so that nothing is stored.
   */
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
    const runs = withRunsAround(run);
    const isStopped = this.stops.enter(runs);
    const outcome = isStopped ? {} : await outcomeOf(recording, () => stepScope.run(scope, work));
    this.stops.leave(runs);
    const stamp = () => ({ at: this.time.baseOf(run).now(), number: this.order.number(executed.place) });
    const abortError = run?.end.abortError;
    if (abortError !== undefined) {
      const around = runs.filter((one) => one !== run && one.end.abortError !== undefined).length;
      if (!this.hasEnded) return { ...stamp(), aborted: failureToJson(abortError), around };
      // If a close or the end of this attempt has interrupted the step, the next attempt runs the step again.
      if (isStopped || outcome.error !== undefined) return undefined;
    }
    const effects = await effectsOf(recording, scope);
    return { ...stamp(), ...outcome, ...effects };
  }

  /**
   * Restores the value of a step. Ends this attempt if the blob store fails. Missing bytes are an error of the step
   * instead.
   */
  private async restored(run: Run | undefined, value: PromiseLike<unknown>): Promise<unknown> {
    try {
      return await value;
    } catch (error) {
      throw error instanceof StepDataError ? error : this.lose(run, error);
    }
  }

  /**
   * Ends this attempt of the execution, because the engine has cancelled or lost it or a step cannot be stored. Aborts
   * the run, and returns the error to throw.
   */
  private lose(run: Run | undefined, error: unknown): unknown {
    this.hasEnded = true;
    this.isCancelled ||= this.step.isCancelled?.(error) === true;
    this.check.end(error);
    if (run === undefined) return error;
    for (const one of withRunsAround(run)) one.end.abort(new RunAbortedError(error));
    return run.end.abortError;
  }
}

/**
 * Adds the number of the run to the name of a step. If a hook that is not deterministic changes the order of parallel
 * runs, the engine then finds another name and fails, instead of mixing up the results.
 */
function nameOf({ name, run }: StepRequest, numbers: WeakMap<Run, number>): string {
  const number = (run && numbers.get(run)) ?? 1;
  return number === 1 ? name : `${name}, run ${number}`;
}

/** Returns a function that makes the keys of steps unique. A resumed call gets the same key again. */
function distinctKeys(): (request: StepRequest) => string {
  const counts = new Map<string, number>();
  return ({ key }) => {
    const number = (counts.get(key) ?? 0) + 1;
    counts.set(key, number);
    return number === 1 ? key : `${key}#${number}`;
  };
}

/** Returns ids that are the same in each attempt. */
function idsOf(execution: string): Ids {
  let made = 0;
  return {
    next(kind) {
      const scope = stepScope.getStore();
      // Ids inside a step depend on the key of the step, so that a repeated step generates the same ids.
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
