import { NextExpiredError, TimeoutExceededError } from '../errors.js';
import { type Awaitable, createDeferred, isPromise } from '../internal/promise.js';
import type { HookPoint } from './decision.js';
import { takeFailure } from './failure.js';
import type { HookRun, HookSite } from './hook-run.js';
import { HookTimer } from './hook-timer.js';
import type { RegisteredLifecycle } from './registered-lifecycle.js';

/** The rest of a chain around a call, down to the call itself. */
export type Step<Request, Result> = (request: Request, run: HookRun) => Awaitable<Result>;

/** A point whose hooks stand around a call. */
export interface WrapPoint<Request, Result> {
  readonly name: HookPoint;
  call(entry: RegisteredLifecycle, request: Request, next: (request?: Request) => Promise<Result>): unknown;
  /** Takes what a hook gave as a result; throws where it is none. */
  accept(value: unknown, site: HookSite, request: Request): Result;
  /** Takes note that a hook went on with another request than it was given. Gives the one that goes on. */
  passOn(site: HookSite, before: Request, after: Request): Request;
  /** Takes note that a hook gave another result than `next` did (`given`), or one without calling it. */
  recordResult(site: HookSite, request: Request, results: { given: Result | undefined; result: Result }): void;
  /** The tool call that a request is about. */
  callOf?(request: Request): { readonly id: string; readonly name: string };
  /** What stands for a result where the hook failed and its part blocks; or throws. */
  blocked(site: HookSite, request: Request, error: unknown): Result;
}

/** Nests the hooks of one point around a call, the first outermost. */
export function compose<Request, Result>(
  point: WrapPoint<Request, Result>,
  entries: readonly RegisteredLifecycle[],
  core: Step<Request, Result>,
): Step<Request, Result> {
  return entries.reduceRight<Step<Request, Result>>((inner, entry) => layer(point, entry, inner), core);
}

function layer<Request, Result>(
  point: WrapPoint<Request, Result>,
  entry: RegisteredLifecycle,
  inner: Step<Request, Result>,
): Step<Request, Result> {
  const shape = { point, entry, inner };
  return (request, run) => {
    run.end.throwIfAborted();
    if (entry.status.inert) return inner(request, run);
    // Most hooks hand on the very promise that `next` gave them. What does more gets a WrapCall, which costs more.
    let passed: Promise<Result> | undefined;
    let call = entry.timeoutMs === undefined ? undefined : new WrapCall<Request, Result>(shape, request, run);
    let over = false;
    const next = (changed: Request = request): Promise<Result> => {
      if (over) return expired(shape);
      if (call !== undefined || passed !== undefined || changed !== request) {
        call ??= new WrapCall<Request, Result>(shape, request, run).adopt(passed);
        return call.next(changed);
      }
      passed = promiseOf(inner, request, run);
      return passed;
    };
    let returned: unknown;
    try {
      returned = point.call(entry, request, next);
    } catch (error) {
      call ??= new WrapCall<Request, Result>(shape, request, run).adopt(passed);
      return call.fail(error);
    }
    if (call === undefined && returned === passed && passed !== undefined) {
      over = true;
      return passed;
    }
    call ??= new WrapCall<Request, Result>(shape, request, run).adopt(passed);
    return call.settle(returned);
  };
}

interface Layer<Request, Result> {
  readonly point: WrapPoint<Request, Result>;
  readonly entry: RegisteredLifecycle;
  readonly inner: Step<Request, Result>;
}

/** One call of one wrap hook that does more than hand on what `next` gave. `next` is good until the hook has settled. */
class WrapCall<Request, Result> {
  private open = true;
  private last: Promise<Result> | undefined = undefined;
  private given: Result[] | undefined = undefined;
  private timer: HookTimer | undefined = undefined;
  private readonly timedOut: Promise<never> | undefined;
  private readonly layer: Layer<Request, Result>;
  private readonly request: Request;
  private readonly run: HookRun;

  constructor(layer: Layer<Request, Result>, request: Request, run: HookRun) {
    this.layer = layer;
    this.request = request;
    this.run = run;
    this.timedOut = layer.entry.timeoutMs === undefined ? undefined : this.startTimer(layer.entry.timeoutMs);
  }

  /** Takes over a call of `next` that was made before. */
  adopt(passed: Promise<Result> | undefined): this {
    this.last = passed;
    this.watch(passed);
    return this;
  }

  next(request: Request): Promise<Result> {
    const { point, inner } = this.layer;
    if (!this.open) return expired(this.layer);
    const passed = request === this.request ? request : point.passOn(this.site(), this.request, request);
    this.last = promiseOf(inner, passed, this.run);
    this.watch(this.last);
    return this.last;
  }

  /** Keeps what `next` gives, stops the clock meanwhile, and sees that a rejection nobody awaits goes nowhere. */
  private watch(promise: Promise<Result> | undefined): void {
    if (promise === undefined) return;
    this.timer?.pause();
    const resume = () => this.timer?.resume();
    promise.then((result) => {
      this.given ??= [];
      this.given.push(result);
      resume();
    }, resume);
  }

  /** Waits for what the hook returned, and takes it as the result. */
  async settle(returned: unknown): Promise<Result> {
    const { point } = this.layer;
    try {
      const value = isPromise(returned) ? await this.bound(returned) : returned;
      if (this.given?.includes(value as Result)) return value as Result;
      const result = point.accept(value, this.site(), this.request);
      point.recordResult(this.site(), this.request, { given: this.given?.at(-1), result });
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

  private close(): void {
    this.open = false;
    this.timer?.clear();
  }

  /**
   * What becomes of the call where the hook failed: `continue` goes on with what `next` last gave, or passes the hook
   * over where it had not called it.
   */
  fail(error: unknown): Awaitable<Result> {
    const { point, inner } = this.layer;
    this.close();
    if (takeFailure(this.site(), error)) return point.blocked(this.site(), this.request, error);
    return this.last ?? inner(this.request, this.run);
  }

  private site(): HookSite {
    const { entry, point } = this.layer;
    return { entry, point: point.name, run: this.run, call: point.callOf?.(this.request) };
  }
}

function expired<Request, Result>({ point, entry }: Layer<Request, Result>): Promise<never> {
  return silent(Promise.reject(new NextExpiredError(entry.name, point.name)));
}

function promiseOf<Request, Result>(step: Step<Request, Result>, request: Request, run: HookRun): Promise<Result> {
  try {
    const result = step(request, run);
    return result instanceof Promise ? result : Promise.resolve(result);
  } catch (error) {
    return Promise.reject(error);
  }
}

/** A rejection that nobody awaits is no unhandled one; who awaits it still sees it. */
function silent<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
