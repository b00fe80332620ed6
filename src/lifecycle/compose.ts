import { NextExpiredError, TimeoutExceededError } from '../errors.js';
import { type Awaitable, createDeferred, isPromise } from '../internal/promise.js';
import type { HookPoint } from './decision.js';
import { takeFailure } from './failure.js';
import type { CallScope, HookRun, HookSite } from './hook-run/hook-run.js';
import { HookTimer } from './hook-timer.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';

/** A model or tool call with the hooks around it. */
export type Step<Request, Result> = (request: Request, scope: CallScope) => Awaitable<Result>;

/** A hook point whose hooks wrap a call: `wrapModelCall` or `wrapToolCall`. */
export interface WrapPoint<Request, Result> {
  readonly name: HookPoint;
  call(entry: RegisteredLifecycle, request: Request, next: (request?: Request) => Promise<Result>): unknown;
  /** Checks the value that a hook returned. Throws if the value is not a valid result. */
  accept(value: unknown, site: HookSite, request: Request): Result;
  /** Records that a hook passed a changed request to `next`. Returns the request to continue with. */
  passOn(site: HookSite, before: Request, after: Request): Request;
  /** Records that a hook changed the result of `next` (`given`), or returned a result without calling `next`. */
  recordResult(site: HookSite, request: Request, results: { given: Result | undefined; result: Result }): void;
  /** Returns the id and name of the tool call in a request. */
  callOf?(request: Request): { readonly id: string; readonly name: string };
  /** Called if a hook with `onFailure: 'block'` failed. Returns the result to use instead, or throws. */
  blocked(site: HookSite, request: Request, error: unknown): Result;
}

/** Nests the hooks of one hook point around a call. The first hook is the outermost. */
export function compose<Request, Result>(
  point: WrapPoint<Request, Result>,
  entries: readonly RegisteredLifecycle[],
  core: Step<Request, Result>,
): Step<Request, Result> {
  return entries.reduceRight<Step<Request, Result>>((inner, entry) => layerOf({ point, entry, inner }), core);
}

/** One hook around a call, or around the hooks further in. */
interface Layer<Request, Result> {
  readonly point: WrapPoint<Request, Result>;
  readonly entry: RegisteredLifecycle;
  readonly inner: Step<Request, Result>;
}

function layerOf<Request, Result>(layer: Layer<Request, Result>): Step<Request, Result> {
  const { point, entry, inner } = layer;
  return (request, scope) => {
    scope.run.end.throwIfAborted();
    if (entry.status.inert) return inner(request, scope);
    // Most hooks return the result of `next`, or a promise of it. Only other hooks need a WrapCall.
    let passed: Promise<Result> | undefined;
    let call = entry.timeoutMs === undefined ? undefined : new WrapCall<Request, Result>(layer, request, scope);
    let state: 'called' | 'pending' | 'settled' = 'called';
    const next = (changed: Request = request): Promise<Result> => {
      if (state === 'settled' || !scope.open) return expired(layer);
      if (call !== undefined || passed !== undefined || changed !== request) {
        call ??= new WrapCall<Request, Result>(layer, request, scope).adopt(passed);
        return call.next(changed);
      }
      passed = promiseOf(inner, request, scope);
      return state === 'pending' && passed !== scope.silent ? silent(passed) : passed;
    };
    let returned: unknown;
    try {
      returned = point.call(entry, request, next);
    } catch (error) {
      call ??= new WrapCall<Request, Result>(layer, request, scope).adopt(passed);
      return call.fail(error);
    }
    if (call === undefined && returned === passed && passed !== undefined) {
      state = 'settled';
      return passed;
    }
    if (call === undefined && isNative(returned) && scope.run.end.stop === undefined) {
      state = 'pending';
      if (passed !== undefined && passed !== scope.silent) void silent(passed);
      // Called with a result or an error. An error differs from `scope.result`, so it takes the long way.
      const settle = (value?: unknown): Awaitable<Result> => {
        state = 'settled';
        if (call === undefined && passed !== undefined && value === scope.result) return value as Result;
        void silent(settled);
        call ??= new WrapCall<Request, Result>(layer, request, scope).adopt(passed);
        return call.settle(returned);
      };
      const settled = returned.then(settle, settle);
      scope.silent = settled;
      return settled;
    }
    call ??= new WrapCall<Request, Result>(layer, request, scope).adopt(passed);
    return call.settle(returned);
  };
}

/** One call of a wrap hook that does not just return the promise of `next`. `next` works until the hook settles. */
class WrapCall<Request, Result> {
  private open = true;
  private last: Promise<Result> | undefined = undefined;
  private given: Result[] | undefined = undefined;
  private timer: HookTimer | undefined = undefined;
  private readonly timedOut: Promise<never> | undefined;
  private readonly scope: CallScope;
  private readonly layer: Layer<Request, Result>;
  private readonly request: Request;
  private readonly run: HookRun;

  constructor(layer: Layer<Request, Result>, request: Request, scope: CallScope) {
    this.layer = layer;
    this.request = request;
    this.run = scope.run;
    this.scope = scope;
    scope.busy += 1;
    this.timedOut = layer.entry.timeoutMs === undefined ? undefined : this.startTimer(layer.entry.timeoutMs);
  }

  /** Takes over the promise of an earlier call of `next`. */
  adopt(passed: Promise<Result> | undefined): this {
    this.last = passed;
    this.watch(passed);
    return this;
  }

  next(request: Request): Promise<Result> {
    const { point, inner } = this.layer;
    if (!this.open || this.isLeftBehind) return expired(this.layer);
    const passed = request === this.request ? request : point.passOn(this.site(), this.request, request);
    this.last = promiseOf(inner, passed, this.scope);
    this.watch(this.last);
    return this.last;
  }

  /** Stores the results of `next`, pauses the time limit while `next` runs, and prevents unhandled rejections. */
  private watch(promise: Promise<Result> | undefined): void {
    if (promise === undefined) return;
    this.timer?.pause();
    this.scope.busy += 1;
    promise.then(
      (result) => {
        // Not `push`, which would reserve space for 17 results.
        this.given = this.given === undefined ? [result] : [...this.given, result];
        this.resume();
      },
      () => this.resume(),
    );
  }

  private resume(): void {
    this.scope.busy -= 1;
    this.timer?.resume();
  }

  /** Awaits the value that the hook returned, and checks it as the result of the call. */
  async settle(returned: unknown): Promise<Result> {
    const { point } = this.layer;
    try {
      const value = isPromise(returned) ? await this.bound(returned) : returned;
      if (this.isLeftBehind || this.given?.includes(value as Result)) return value as Result;
      const result = point.accept(value, this.site(), this.request);
      point.recordResult(this.site(), this.request, { given: this.given?.at(-1), result });
      this.scope.result = result;
      return result;
    } catch (error) {
      return await this.fail(error);
    } finally {
      this.close();
    }
  }

  private bound(returned: PromiseLike<unknown>): Awaitable<unknown> {
    return this.run.end.race(this.timedOut === undefined ? returned : Promise.race([returned, this.timedOut]));
  }

  private startTimer(timeoutMs: number): Promise<never> {
    const { point, entry } = this.layer;
    const { promise, reject } = createDeferred<never>();
    const expire = () => reject(new TimeoutExceededError(`${point.name} of "${entry.name}"`, timeoutMs));
    this.timer = new HookTimer(this.run.context.clock, timeoutMs, expire);
    return silent(promise);
  }

  /** True after an outer hook has settled without waiting for this hook. */
  private get isLeftBehind(): boolean {
    return !this.scope.open;
  }

  private close(): void {
    if (!this.open) return;
    this.open = false;
    this.scope.busy -= 1;
    this.timer?.clear();
  }

  /**
   * Applies `onFailure` after the hook failed. With `continue`, the result is that of the last `next` call. If the hook
   * had not called `next`, the call runs without the hook.
   */
  fail(error: unknown): Awaitable<Result> {
    const { point, inner } = this.layer;
    this.close();
    if (this.isLeftBehind) throw error;
    if (takeFailure(this.site(), error)) return point.blocked(this.site(), this.request, error);
    return this.last ?? inner(this.request, this.scope);
  }

  private site(): HookSite {
    const { entry, point } = this.layer;
    return { entry, point: point.name, run: this.run, call: point.callOf?.(this.request) };
  }
}

function expired<Request, Result>({ point, entry }: Layer<Request, Result>): Promise<never> {
  return silent(Promise.reject(new NextExpiredError(entry.name, point.name)));
}

function promiseOf<Request, Result>(step: Step<Request, Result>, request: Request, scope: CallScope): Promise<Result> {
  try {
    const result = step(request, scope);
    return isNative<Result>(result) ? result : Promise.resolve(result);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Prevents an unhandled rejection. A caller that awaits the promise still gets the error. */
function silent<T>(promise: Promise<T>): Promise<T> {
  promise.then(undefined, ignore);
  return promise;
}

function ignore(): void {}

/** True for a promise of the class `Promise` itself, whose `then` is known. Faster than `instanceof`. */
function isNative<T>(value: unknown): value is Promise<T> {
  return isPromise(value) && value.constructor === Promise;
}
