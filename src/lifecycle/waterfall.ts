import { HookResultInvalidError, TimeoutExceededError } from '../errors.js';
import { withinTime } from '../internal/clock.js';
import { type Awaitable, isPromise } from '../internal/promise.js';
import { checkResponse } from '../model/check-response.js';
import type { HookPoint } from './decision.js';
import { takeFailure } from './failure.js';
import { type EndAction, type HookAction, wordsOf } from './hook-action.js';
import type { HookRun, HookSite } from './hook-run/hook-run.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';

/** A hook point whose hooks get a value in turn, each the value that the previous hook returned. */
export interface WaterfallPoint<T> {
  readonly name: HookPoint;
  /** The actions that a hook may return here. */
  readonly actions: readonly HookAction['type'][];
  /** Describes the valid return values, for an error message. */
  readonly expected: string;
  call(entry: RegisteredLifecycle, value: T, run: HookRun): unknown;
  /** Returns true if the hook returned a new value. May throw if the value is invalid. */
  isValue(result: unknown): result is T;
  /** If true, a returned value is ignored, but an action counts. */
  readonly takesNoValue?: boolean;
  /**
   * Compares the value with its copy from before the hook. If the hook replaced parts of the value by invalid ones, undoes
   * all changes of the hook and throws. Returns a copy to compare with after the next hook.
   */
  guard?(value: T, copy: T | undefined): T;
  /** Converts the value for `Decision.before` and `Decision.after`. */
  show(value: T): unknown;
}

/** A hook point with the lifecycles that implement it, in order. */
export interface Waterfall<T> {
  readonly point: WaterfallPoint<T>;
  readonly entries: readonly RegisteredLifecycle[];
}

/**
 * Calls the hooks of one hook point in order. Each hook gets the value that the previous hook returned. Stops early if a
 * hook ends the run; `run.end.verdict` is set then. If a hook returns a promise or throws, returns a PendingWaterfall, whose
 * `finish` calls the remaining hooks.
 */
export function runWaterfall<T>(waterfall: Waterfall<T>, value: T, run: HookRun): T | PendingWaterfall<T> {
  const { point, entries } = waterfall;
  let current = value;
  let copy: T | undefined;
  for (let index = 0; index < entries.length; index++) {
    const entry = entries[index] as RegisteredLifecycle;
    if (!enter(point.name, entry, run)) continue;
    const value = current;
    if (copy === undefined) copy = point.guard?.(value, copy);
    try {
      const result = point.call(entry, value, run);
      if (isPromise(result)) return new PendingWaterfall(waterfall, run, { index, value, copy, result });
      if (copy !== undefined) copy = point.guard?.(value, copy);
      if (result !== undefined) current = takeResult({ entry, point: point.name, run }, point, { value, result });
      if (current !== value) copy = undefined;
    } catch (error) {
      return new PendingWaterfall(waterfall, run, { index, value, copy, result: Promise.reject(error) });
    }
    if (leave(point.name, entry, run)) return current;
  }
  return current;
}

/** The state of a waterfall when a hook has returned `result`. */
interface WaterfallState<T> {
  readonly index: number;
  readonly value: T;
  readonly copy: T | undefined;
  readonly result: unknown;
}

/**
 * The state of a waterfall that stopped at a hook that returned a promise or threw. It is one object, because V8 saves each
 * variable at an `await`.
 */
export class PendingWaterfall<T> {
  private readonly waterfall: Waterfall<T>;
  private readonly run: HookRun;
  private index: number;
  private value: T;
  private copy: T | undefined;
  private readonly result: unknown;

  constructor(waterfall: Waterfall<T>, run: HookRun, { index, value, copy, result }: WaterfallState<T>) {
    this.waterfall = waterfall;
    this.run = run;
    this.index = index;
    this.value = value;
    this.copy = copy;
    this.result = result;
  }

  /** Awaits the hook and calls the hooks after it. Returns the last value. */
  async finish(): Promise<T> {
    for (let isCalled = true; ; isCalled = false) {
      try {
        const result = isCalled ? this.result : this.point.call(this.entry, this.value, this.run);
        this.take(isPromise(result) ? await this.bound(result) : result);
      } catch (error) {
        if (this.fail(error)) return this.value;
      }
      if (leave(this.point.name, this.entry, this.run) || !this.next()) return this.value;
    }
  }

  private get point(): WaterfallPoint<T> {
    return this.waterfall.point;
  }

  private get entry(): RegisteredLifecycle {
    return this.waterfall.entries[this.index] as RegisteredLifecycle;
  }

  private get site(): HookSite {
    return { entry: this.entry, point: this.point.name, run: this.run };
  }

  /** Ends the wait for the hook at the lifecycle's `timeoutMs` or when the run is aborted. */
  private bound(result: PromiseLike<unknown>): Awaitable<unknown> {
    const { run, entry, point } = this;
    const promise = Promise.resolve(result);
    if (point.name === 'beforeAgent') run.end.entering = { entry, done: promise };
    if (entry.timeoutMs === undefined) return run.end.race(promise);
    const late = new TimeoutExceededError(`${point.name} of "${entry.name}"`, entry.timeoutMs);
    const timed = withinTime(promise, late, run.context.clock);
    return run.end.race(timed, timed.clear);
  }

  private take(result: unknown): void {
    const { run, value, point } = this;
    run.end.throwIfAborted();
    // From here the hook is no longer pending. If its result is invalid, it has failed, and `onError` is not called for it.
    if (point.name === 'beforeAgent') run.end.entering = undefined;
    if (this.copy !== undefined) this.copy = point.guard?.(value, this.copy);
    if (result !== undefined) this.value = takeResult(this.site, point, { value, result });
    if (this.value !== value) this.copy = undefined;
  }

  /** Undoes damage by the hook. Returns true if the run ends here. */
  private fail(error: unknown): boolean {
    const { value, copy } = this;
    try {
      if (copy !== undefined) this.copy = this.point.guard?.(value, copy);
    } catch {
      // The guard has undone the damage, so the copy is still right.
    }
    return takeFailure(this.site, error);
  }

  /** Moves on to the next hook. Returns false if no hook is left. */
  private next(): boolean {
    const { run, value, point } = this;
    while (++this.index < this.waterfall.entries.length) {
      if (!enter(point.name, this.entry, run)) continue;
      if (this.copy === undefined) this.copy = point.guard?.(value, this.copy);
      return true;
    }
    return false;
  }
}

// `run.end.entered` and `run.end.exited` are positions in the chain.
/** Returns true if the hook is to be called. */
function enter(point: HookPoint, entry: RegisteredLifecycle, run: HookRun): boolean {
  if (entry.status.inert) return false;
  if (point === 'beforeAgent') run.end.entered = entry.index;
  else if (point === 'afterAgent') {
    if (entry.index >= run.end.entered) return false;
    run.end.exited = entry.index + 1;
  }
  return true;
}

/** Returns true if the hook that just returned ended the run. */
function leave(point: HookPoint, entry: RegisteredLifecycle, run: HookRun): boolean {
  if (point === 'afterAgent') return false;
  if (point === 'beforeAgent') {
    run.end.entered = entry.index + 1;
    run.end.entering = undefined;
  }
  return run.end.verdict !== undefined;
}

interface Returned<T> {
  readonly value: T;
  readonly result: unknown;
}

function takeResult<T>(site: HookSite, point: WaterfallPoint<T>, { value, result }: Returned<T>): T {
  if (result === value) return value;
  if (point.isValue(result)) {
    if (point.takesNoValue) return value;
    recordChange(site, point, [value, result]);
    return result;
  }
  const action = result as HookAction;
  if (!point.actions.includes(action?.type)) {
    throw new HookResultInvalidError(point.expected, result);
  }
  if (action.type === 'modify') {
    const response = checkResponse(action.response) as T;
    recordChange(site, point, [value, response]);
    return response;
  }
  if (action.type === 'approve') site.run.record({ type: 'approve', by: site.entry.name, point: site.point });
  else if (action.type !== 'continue') endRun(site, action);
  return value;
}

function recordChange<T>({ entry, run }: HookSite, point: WaterfallPoint<T>, [before, after]: readonly [T, T]): void {
  run.record({
    type: 'modify',
    by: entry.name,
    point: point.name,
    before: point.show(before),
    after: point.show(after),
  });
}

function endRun({ entry, point, run }: HookSite, action: EndAction): void {
  const reason = wordsOf(action);
  if (run.end.verdict !== undefined) return;
  const by = action.by ?? entry.name;
  run.end.verdict = { action, by, point };
  run.record({ type: action.type, by, point, reason });
}
