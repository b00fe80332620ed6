import { HookResultInvalidError, TimeoutExceededError } from '../errors.js';
import { withinTime } from '../internal/clock.js';
import { type Awaitable, isPromise } from '../internal/promise.js';
import type { ModelResponse } from '../model/model.js';
import { wholeResponse } from '../model/whole-response.js';
import type { HookPoint } from './decision.js';
import { takeFailure } from './failure.js';
import { type HookAction, wordsOf } from './hook-action.js';
import type { HookRun, HookSite, WatchedHook } from './hook-run/hook-run.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';

/** A hook point whose hooks receive a value in turn. Each hook receives the value that the previous hook returned. */
export interface WaterfallPoint<T> {
  readonly name: HookPoint;
  readonly actions: readonly HookAction['type'][];
  /** Describes the valid return values, for an error message. */
  readonly expected: string;
  call(entry: RegisteredLifecycle, value: T, run: HookRun): unknown;
  /** Returns true if the hook returned a new value, and false for an action. Throws if the new value is invalid. */
  isValue(result: unknown): result is T;
  /** If true, a value that a hook returns is ignored. Actions still apply. */
  readonly takesNoValue?: boolean;
  /**
   * Called after each hook, because a hook may change `value` in place. `copy` is the value before the hook.
   *
   * Restores `value` from `copy` and throws if the change made it invalid. Returns a copy for the next hook.
   */
  guard?(value: T, copy: T | undefined): T;
  /** Converts the value to the form of `Decision.before` and `Decision.after`. */
  show(value: T): unknown;
}

/** A hook point with the lifecycles that implement it, in order. */
export interface Waterfall<T> {
  readonly point: WaterfallPoint<T>;
  readonly entries: readonly RegisteredLifecycle[];
}

/** Calls all hooks of one hook point once, in order. Each hook gets the value that the previous hook returned. */
export class WaterfallCall<T> {
  private index = -1;
  /** The copy of the value from before the hook, for `guard`. */
  private copy: T | undefined = undefined;
  private watched: WatchedHook | undefined = undefined;

  constructor(
    private readonly waterfall: Waterfall<T>,
    private value: T,
    private readonly hookRun: HookRun,
  ) {}

  /**
   * Calls the hooks, then `done` with the last value. If a hook ends the run, skips the later hooks and calls `done`.
   * Returns a promise only if a hook or `done` returns one.
   */
  run<R>(done: (value: T) => Awaitable<R>): Awaitable<R> {
    const pending = this.callNext();
    return pending === undefined ? done(this.value) : this.finish(pending, done);
  }

  /** Calls hooks until one returns a promise, and returns this promise. Returns undefined when no hook is left. */
  private callNext(): PromiseLike<unknown> | undefined {
    const { point, entries } = this.waterfall;
    while (++this.index < entries.length) {
      if (!this.enter()) continue;
      this.copy ??= point.guard?.(this.value, undefined);
      this.watched = this.hookRun.listeners.watch?.startHook(this.site);
      try {
        const result = point.call(this.entry, this.value, this.hookRun);
        if (isPromise(result)) return result;
        this.take(result);
      } catch (error) {
        if (this.fail(error)) return undefined;
      }
      if (this.leave()) return undefined;
    }
    return undefined;
  }

  private async finish<R>(first: PromiseLike<unknown>, done: (value: T) => Awaitable<R>): Promise<R> {
    let pending: PromiseLike<unknown> | undefined = first;
    while (pending !== undefined) {
      try {
        const result = await this.bound(pending);
        this.hookRun.end.throwIfAborted();
        // The hook is no longer pending. If its result is invalid, its lifecycle gets no `onError`.
        this.hookRun.pairing.awaited();
        this.take(result);
      } catch (error) {
        if (this.fail(error)) break;
      }
      if (this.leave()) break;
      pending = this.callNext();
    }
    return done(this.value);
  }

  private get entry(): RegisteredLifecycle {
    return this.waterfall.entries[this.index] as RegisteredLifecycle;
  }

  private get site(): HookSite {
    return { entry: this.entry, point: this.waterfall.point.name, run: this.hookRun };
  }

  /** Returns false if the hook must be skipped, because its lifecycle was removed or has not started. */
  private enter(): boolean {
    const { entry, hookRun } = this;
    if (entry.status.inert) return false;
    const { name } = this.waterfall.point;
    if (name === 'beforeAgent') hookRun.pairing.reach(entry);
    return name !== 'afterAgent' || hookRun.pairing.leave(entry);
  }

  /** Ends the wait for the hook at the lifecycle's `timeoutMs`, or when the run is aborted. */
  private bound(result: PromiseLike<unknown>): Awaitable<unknown> {
    const { hookRun, entry } = this;
    const { name } = this.waterfall.point;
    const promise = Promise.resolve(result);
    if (name === 'beforeAgent') hookRun.pairing.await(entry, promise);
    if (entry.timeoutMs === undefined) return hookRun.end.race(promise);
    const late = new TimeoutExceededError(`${name} of "${entry.name}"`, entry.timeoutMs);
    const timed = withinTime(promise, late, hookRun.context.clock);
    return hookRun.end.race(timed, timed.clear);
  }

  private take(result: unknown): void {
    this.watched?.end();
    const { value } = this;
    const { point } = this.waterfall;
    if (this.copy !== undefined) this.copy = point.guard?.(value, this.copy);
    if (result !== undefined) this.value = takeResult(this.site, point, [value, result]);
    if (this.value !== value) this.copy = undefined;
  }

  /** Undoes invalid changes of the hook and applies `onFailure`. Returns true if the run must end. */
  private fail(error: unknown): boolean {
    this.watched?.end();
    const { value, copy } = this;
    try {
      if (copy !== undefined) this.copy = this.waterfall.point.guard?.(value, copy);
    } catch {
      // The guard has undone the changes, so the copy is still valid.
    }
    return takeFailure(this.site, error);
  }

  /** Called after a hook. Returns true if the hook has ended the run, so that no further hook is called. */
  private leave(): boolean {
    const { name } = this.waterfall.point;
    if (name === 'afterAgent') return false;
    if (name === 'beforeAgent') this.hookRun.pairing.enter(this.entry);
    return this.hookRun.end.verdict !== undefined;
  }
}

/** Returns the value for the next hook: the returned one, or the previous one after an action. Applies the action. */
function takeResult<T>(site: HookSite, point: WaterfallPoint<T>, [value, result]: readonly [T, unknown]): T {
  if (result === value) return value;
  if (point.isValue(result)) return point.takesNoValue ? value : replace(site, point, [value, result]);
  const action = result as HookAction;
  if (!point.actions.includes(action?.type)) throw new HookResultInvalidError(point.expected, result);
  const { entry, run } = site;
  if (action.type === 'modify') {
    const response = wholeResponse(action.response, value as ModelResponse) as T;
    return replace(site, point, [value, response]);
  }
  if (action.type === 'approve') {
    run.record({ type: 'approve', by: entry.name, point: point.name });
  } else if (action.type !== 'continue') {
    const reason = wordsOf(action);
    const by = action.by ?? entry.name;
    const isFirst = run.end.decide({ action, by, point: point.name });
    if (isFirst) run.record({ type: action.type, by, point: point.name, reason });
  }
  return value;
}

function replace<T>({ entry, run }: HookSite, point: WaterfallPoint<T>, [before, after]: readonly [T, T]): T {
  const shown = { before: point.show(before), after: point.show(after) };
  run.record({ type: 'modify', by: entry.name, point: point.name, ...shown });
  return after;
}
