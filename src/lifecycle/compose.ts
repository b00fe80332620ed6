import { NextExpiredError, TimeoutExceededError } from '../errors.js';
import { type Awaitable, createDeferred, isPromise } from '../internal/promise.js';
import type { HookPoint } from './decision.js';
import { takeFailure } from './failure.js';
import type { CallScope, HookSite, WatchedHook } from './hook-run/hook-run.js';
import { HookTimer } from './hook-timer.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';

/** A model or tool call, wrapped by zero or more hooks. */
export type Step<Request, Result> = (request: Request, scope: CallScope) => Awaitable<Result>;

/** A hook point whose hooks wrap a call: `wrapModelCall` or `wrapToolCall`. */
export interface WrapPoint<Request, Result> {
  readonly name: HookPoint;
  call(entry: RegisteredLifecycle, request: Request, next: (request?: Request) => Promise<Result>): unknown;
  /**
   * Checks the value that a hook returned. Throws if the value is not a valid result. `given` is the last result of `next`.
   */
  accept(value: unknown, site: HookSite, results: { request: Request; given: Result | undefined }): Result;
  /** Records that a hook passed a changed request to `next`. Returns the request to pass on. */
  passOn(site: HookSite, before: Request, after: Request): Request;
  /** Records that a hook changed the result of `next` (`given`), or returned a result without calling `next`. */
  recordResult(site: HookSite, request: Request, results: { given: Result | undefined; result: Result }): void;
  /** Returns the id and name of the tool call in a request. */
  callOf?(request: Request): { readonly id: string; readonly name: string };
  /**
   * Called if a hook with `onFailure: 'block'` failed. Returns the result to use instead, or throws. `hasCalled` is true
   * if the hook has called `next`.
   */
  blocked(site: HookSite, error: unknown, hasCalled: boolean): Result;
}

/** Nests the hooks of one hook point around a call. The first hook is the outermost. */
export function compose<Request, Result>(
  point: WrapPoint<Request, Result>,
  entries: readonly RegisteredLifecycle[],
  core: Step<Request, Result>,
): Step<Request, Result> {
  return entries.reduceRight<Step<Request, Result>>((inner, entry) => {
    const layer = { point, entry, inner };
    return (request, scope) => {
      scope.run.end.throwIfAborted();
      return entry.status.inert ? inner(request, scope) : new WrapCall(layer, request, scope).start();
    };
  }, core);
}

/** One hook of a hook point, with the step that its `next` runs. */
interface Layer<Request, Result> {
  readonly point: WrapPoint<Request, Result>;
  readonly entry: RegisteredLifecycle;
  readonly inner: Step<Request, Result>;
}

/** One call of a wrap hook. `next` works until the hook settles. */
class WrapCall<Request, Result> {
  private open = true;
  private hasReturned = false;
  /** The promise of the latest call of `next`. */
  private last: Promise<Result> | undefined = undefined;
  /** The results of all calls of `next` so far. */
  private given: readonly Result[] = NOTHING;
  private timer: HookTimer | undefined = undefined;
  private readonly watched: WatchedHook | undefined;

  constructor(
    private readonly layer: Layer<Request, Result>,
    private readonly request: Request,
    private readonly scope: CallScope,
  ) {
    scope.busy += 1;
    this.watched = scope.run.listeners.watch?.startHook(this.site);
  }

  start(): Awaitable<Result> {
    const { point, entry } = this.layer;
    const timedOut = entry.timeoutMs === undefined ? undefined : this.startTimer(entry.timeoutMs);
    let returned: unknown;
    try {
      returned = point.call(entry, this.request, (request = this.request) => this.next(request));
    } catch (error) {
      if (this.last !== undefined) this.watch(this.last);
      return this.fail(error);
    }
    if (this.last !== undefined && returned === this.last) {
      // The hook returned the promise of `next` itself, so its result needs no check.
      this.close();
      return this.last;
    }
    if (this.last !== undefined) this.watch(this.last);
    this.hasReturned = true;
    if (!isPromise(returned)) return this.judge(returned);
    return this.bound(returned, timedOut).then(
      (value) => this.judge(value),
      (error) => this.fail(error),
    );
  }

  private next(request: Request): Promise<Result> {
    const { point, entry, inner } = this.layer;
    if (!this.open || !this.scope.open) return silent(Promise.reject(new NextExpiredError(entry.name, point.name)));
    if (this.last !== undefined && !this.hasReturned) this.watch(this.last);
    const passed = request === this.request ? request : point.passOn(this.site, this.request, request);
    const waitFor = this.watched?.startNext();
    this.last = promiseOf(inner, passed, this.scope);
    waitFor?.(this.last);
    if (this.hasReturned || this.timer !== undefined) this.watch(this.last);
    return this.last;
  }

  /**
   * Stores the result of `next`, and prevents an unhandled rejection. Pauses the time limit of the hook until `next`
   * settles.
   */
  private watch(result: Promise<Result>): void {
    this.timer?.pause();
    result.then(
      (given) => {
        this.given = [...this.given, given];
        this.timer?.resume();
      },
      () => this.timer?.resume(),
    );
  }

  /** Accepts the value that the hook returned as the result of the call, or applies `onFailure`. */
  private judge(value: unknown): Awaitable<Result> {
    const { point } = this.layer;
    const { given } = this;
    try {
      // A result of `next` is already checked. The result of an abandoned hook is not used.
      if (this.scope.open && !given.includes(value as Result)) {
        const last = given.at(-1);
        const result = point.accept(value, this.site, { request: this.request, given: last });
        point.recordResult(this.site, this.request, { given: last, result });
        return result;
      }
      return value as Result;
    } catch (error) {
      return this.fail(error);
    } finally {
      this.close();
    }
  }

  private bound(returned: PromiseLike<unknown>, timedOut: Promise<never> | undefined): PromiseLike<unknown> {
    const inTime = timedOut === undefined ? returned : Promise.race([returned, timedOut]);
    return this.scope.run.end.race(inTime) as PromiseLike<unknown>;
  }

  private startTimer(timeoutMs: number): Promise<never> {
    const { point, entry } = this.layer;
    const { promise, reject } = createDeferred<never>();
    const expire = () => reject(new TimeoutExceededError(`${point.name} of "${entry.name}"`, timeoutMs));
    this.timer = new HookTimer(this.scope.run.context.clock, timeoutMs, expire);
    return silent(promise);
  }

  private close(): void {
    if (!this.open) return;
    this.open = false;
    this.scope.busy -= 1;
    this.timer?.clear();
    this.watched?.end();
  }

  /**
   * Applies `onFailure` after the hook failed. With `continue`, uses the result of the hook's last `next` call. If the
   * hook has not called `next`, the call runs without the hook.
   */
  private fail(error: unknown): Awaitable<Result> {
    const { point, inner } = this.layer;
    this.close();
    if (!this.scope.open) throw error;
    if (takeFailure(this.site, error)) return point.blocked(this.site, error, this.last !== undefined);
    return this.last ?? inner(this.request, this.scope);
  }

  private get site(): HookSite {
    const { entry, point } = this.layer;
    return { entry, point: point.name, run: this.scope.run, call: point.callOf?.(this.request) };
  }
}

const NOTHING: readonly never[] = [];

function promiseOf<Request, Result>(step: Step<Request, Result>, request: Request, scope: CallScope): Promise<Result> {
  try {
    return Promise.resolve(step(request, scope));
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Prevents an unhandled rejection. A caller that awaits the promise still gets the error. */
function silent<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
