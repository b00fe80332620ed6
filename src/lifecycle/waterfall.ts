import { describeError, HookResultInvalidError, TimeoutExceededError } from '../errors.js';
import { withinTime } from '../internal/clock.js';
import { type Awaitable, isPromise } from '../internal/promise.js';
import { checkResponse } from '../model/check-response.js';
import type { HookPoint } from './decision.js';
import { takeFailure } from './failure.js';
import { type EndAction, type HookAction, wordsOf } from './hook-action.js';
import type { HookRun, HookSite } from './hook-run.js';
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
   * Compares the value with its copy from before the hook. If the hook made the value invalid, undoes all changes of the hook
   * and throws. Returns a copy to compare with after the next hook.
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
 * Calls the hooks of one hook point in order. Each hook gets the value that the previous hook returned. Runs
 * synchronously until a hook returns a promise. Stops early if a hook ends the run; `run.end.verdict` is set then.
 */
export function runWaterfall<T>(waterfall: Waterfall<T>, value: T, run: HookRun): T | Promise<T> {
  const { point, entries } = waterfall;
  const { name } = point;
  const isCounted = name === 'beforeAgent' || name === 'afterAgent';
  let current = value;
  let copy: T | undefined;
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as RegisteredLifecycle;
    if (isCounted ? !enter(name, entry, run) : entry.status.inert) continue;
    const value = current;
    if (copy === undefined) copy = point.guard?.(value, copy);
    try {
      const result = point.call(entry, value, run);
      if (isPromise(result)) return finishWaterfall(waterfall, run, { index: i, value, copy, result });
      if (copy !== undefined) copy = point.guard?.(value, copy);
      if (result !== undefined) current = takeResult({ entry, point: name, run }, point, { value, result });
      if (current !== value) copy = undefined;
    } catch (error) {
      const site = { entry, point: name, run };
      copy = repair(site, point, { value, copy });
      if (takeFailure(site, error)) return current;
    }
    if (isCounted ? leave(name, entry, run) : run.end.verdict !== undefined) return current;
  }
  return current;
}

/** The state of a waterfall when a hook has returned a promise. */
interface WaterfallState<T> {
  readonly index: number;
  readonly value: T;
  readonly copy: T | undefined;
  readonly result: unknown;
}

async function finishWaterfall<T>(
  { point, entries }: Waterfall<T>,
  run: HookRun,
  state: WaterfallState<T>,
): Promise<T> {
  const { name } = point;
  const isCounted = name === 'beforeAgent' || name === 'afterAgent';
  let current = state.value;
  let { copy } = state;
  for (let i = state.index; i < entries.length; i++) {
    const entry = entries[i] as RegisteredLifecycle;
    if (i > state.index && (isCounted ? !enter(name, entry, run) : entry.status.inert)) continue;
    const value = current;
    if (copy === undefined) copy = point.guard?.(value, copy);
    try {
      const returned = i === state.index ? state.result : point.call(entry, value, run);
      const isBound = name === 'beforeAgent' || entry.timeoutMs !== undefined || run.end.stop !== undefined;
      const waits = isPromise(returned);
      const result = waits ? await (isBound ? boundHook({ entry, point: name, run }, returned) : returned) : returned;
      run.end.throwIfAborted();
      // From here the hook is no longer pending. If its result is invalid, it has failed, and `onError` is not called for it.
      if (isCounted) run.end.entering = undefined;
      if (copy !== undefined) copy = point.guard?.(value, copy);
      if (result !== undefined) current = takeResult({ entry, point: name, run }, point, { value, result });
      if (current !== value) copy = undefined;
    } catch (error) {
      const site = { entry, point: name, run };
      copy = repair(site, point, { value, copy });
      if (takeFailure(site, error)) return current;
    }
    if (isCounted ? leave(name, entry, run) : run.end.verdict !== undefined) return current;
  }
  return current;
}

// `run.end.entered` and `run.end.exited` are positions in the chain.
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

/**
 * Undoes damage by a hook that has failed. Returns a copy of the value. Throws if the value stays invalid: the copy has the
 * same parts as the value, so a change inside a part cannot be undone.
 */
function repair<T>(site: HookSite, point: WaterfallPoint<T>, { value, copy }: Guarded<T>): T | undefined {
  if (copy === undefined) return undefined;
  try {
    return point.guard?.(value, copy);
  } catch {
    return assertRepaired(site, point, { value, copy });
  }
}

function assertRepaired<T>(
  { entry, run }: HookSite,
  point: WaterfallPoint<T>,
  { value, copy }: Guarded<T>,
): T | undefined {
  try {
    return point.guard?.(value, copy);
  } catch (error) {
    const expected = `${point.name} of "${entry.name}" must not change a part in place (${describeError(error)})`;
    throw run.end.own(new HookResultInvalidError(expected, value));
  }
}

interface Guarded<T> {
  readonly value: T;
  readonly copy: T | undefined;
}

/** Awaits a hook. Rejects at the lifecycle's `timeoutMs` or when the run is aborted. */
function boundHook<T>({ entry, point, run }: HookSite, returned: PromiseLike<T>): Awaitable<T> {
  const { timeoutMs } = entry;
  let promise = returned;
  if (point === 'beforeAgent') {
    const done = Promise.resolve(returned);
    run.end.entering = { entry, done };
    promise = done;
  }
  if (timeoutMs === undefined) return run.end.race(promise);
  const late = new TimeoutExceededError(`${point} of "${entry.name}"`, timeoutMs);
  const timed = withinTime(promise, late, run.context.clock);
  return run.end.race(timed, timed.clear);
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
