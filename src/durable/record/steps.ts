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

/**
 * Facts about the first run of an execution, stored in the step `start`. A later version of the program needs them to
 * take the same steps.
 */
export interface StartRecord {
  /** The names of the hooks that are steps. */
  readonly hooks: readonly string[];
}

/** Runs the steps of one execution. Also has the ids and the time of the execution, which a replay repeats. */
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
   * True if this attempt is over and another attempt continues the execution. Running steps then store no error, and no
   * new step begins.
   */
  hasEnded = false;
  /** True if the engine has cancelled the execution, so that no further attempt follows. */
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

  /** True if a run uses the ids and a clock of this execution. */
  owns({ ids, clock }: RunContext): boolean {
    return ids === this.ids && this.time.has(clock);
  }

  /**
   * Assigns a number to a new run. If its agent is closed, this attempt ends, so that a later attempt can continue the
   * run.
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
   * Implements {@link RunEffects.checkEnd}: checks that no stored step of the run is left. After an abort, waits until
   * the engine has stored the steps that the abort interrupted.
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
   * Runs `work` as a step. Resolves with the result as a replay would restore it. Rejects with the error of `work`, or
   * with the restored error of an earlier attempt.
   *
   * Aborts the run if the engine rejects the step, or if the blob store fails. Also aborts the run if it was aborted
   * during this step in an earlier attempt.
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

  /**
   * Resolves with the value that the engine stores for a step. Rejects if the engine rejects the step, or if `execute`
   * calls `lose`.
   */
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
   * Executes the function of a step for the engine. Never rejects. Stays pending if nothing must be stored, so that the
   * next attempt executes the step again.
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
   * Executes the function of a step, and returns the record to store. Returns undefined if nothing must be stored.
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
   * Restores the value of a step. If the blob store fails, ends this attempt. If the blob store does not have the
   * bytes, the step fails instead.
   */
  private async restored(run: Run | undefined, value: PromiseLike<unknown>): Promise<unknown> {
    try {
      return await value;
    } catch (error) {
      throw error instanceof StepDataError ? error : this.lose(run, error);
    }
  }

  /**
   * Ends this attempt, because the engine has cancelled or lost it, or because a step cannot be stored. Aborts the run,
   * and returns the error to throw.
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
 * Adds the number of the run to the name of a step. If parallel runs change their order on a replay, the engine then
 * finds another name and fails, instead of mixing up their results.
 */
function nameOf({ name, run }: StepRequest, numbers: WeakMap<Run, number>): string {
  const number = (run && numbers.get(run)) ?? 1;
  return number === 1 ? name : `${name}, run ${number}`;
}

/** Returns a function that makes the key of each step unique. A tool call that is resumed gets the same key again. */
function distinctKeys(): (request: StepRequest) => string {
  const counts = new Map<string, number>();
  return ({ key }) => {
    const number = (counts.get(key) ?? 0) + 1;
    counts.set(key, number);
    return number === 1 ? key : `${key}#${number}`;
  };
}

/** Returns a generator of ids that are the same in each attempt. */
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
