import { NextExpiredError, TimeoutExceededError } from '../errors.js';
import { type Awaitable, createDeferred, isPromise } from '../internal/promise.js';
import type { HookPoint } from './decision.js';
import type { Entry } from './entry.js';
import { takeFailure } from './failure.js';
import type { HookRun, HookSite } from './hook-run.js';
import { HookTimer } from './hook-timer.js';

/** The rest of a chain around a call, down to the call itself. */
export type Step<Request, Result> = (request: Request, run: HookRun) => Awaitable<Result>;

/** A point whose hooks stand around a call. */
export interface WrapPoint<Request, Result> {
  readonly name: HookPoint;
  call(entry: Entry, request: Request, next: (request?: Request) => Promise<Result>): unknown;
  /** Takes what a hook gave as a result; throws where it is none. */
  accept(value: unknown, site: HookSite, request: Request): Result;
  /** Takes note that a hook went on with another request than it was given. */
  recordRequest(site: HookSite, before: Request, after: Request): void;
  /** Takes note that a hook gave another result than `next` did (`given`), or one without calling it. */
  recordResult(site: HookSite, request: Request, results: { given: Result | undefined; result: Result }): void;
  /** The tool call that a request is about. */
  callOf?(request: Request): { readonly id: string; readonly name: string };
  /** What stands for a result where the hook failed and its part blocks; or throws. */
  blocked(site: HookSite, request: Request, error: unknown): Result;
}

/** Nests the hooks of one point around a call, the first outermost. */
export function nestSteps<Request, Result>(
  point: WrapPoint<Request, Result>,
  entries: readonly Entry[],
  core: Step<Request, Result>,
): Step<Request, Result> {
  return entries.reduceRight<Step<Request, Result>>((inner, entry) => layer(point, entry, inner), core);
}

function layer<Request, Result>(
  point: WrapPoint<Request, Result>,
  entry: Entry,
  inner: Step<Request, Result>,
): Step<Request, Result> {
  const shape = { point, entry, inner };
  return (request, run) => (entry.status.inert ? inner(request, run) : new WrapCall(shape, request, run).invoke());
}

interface Layer<Request, Result> {
  readonly point: WrapPoint<Request, Result>;
  readonly entry: Entry;
  readonly inner: Step<Request, Result>;
}

/** One call of one wrap hook. `next` is good until the hook has settled. */
class WrapCall<Request, Result> {
  private open = true;
  /** Whether what `next` gives must be looked at: not where the hook hands it on as it is. */
  private watching: boolean;
  private last: Promise<Result> | undefined = undefined;
  private given: Result[] | undefined = undefined;
  private timer: HookTimer | undefined = undefined;

  constructor(
    private readonly layer: Layer<Request, Result>,
    private readonly request: Request,
    private readonly run: HookRun,
  ) {
    this.watching = layer.entry.timeoutMs !== undefined;
  }

  invoke(): Awaitable<Result> {
    const { point, entry } = this.layer;
    const timedOut = entry.timeoutMs === undefined ? undefined : this.startTimer(entry.timeoutMs);
    let returned: unknown;
    try {
      returned = point.call(entry, this.request, (request) => this.next(request ?? this.request));
    } catch (error) {
      this.close();
      return this.recover(error);
    }
    // The hook hands on the very promise that `next` gave it: nothing to check, nothing to time.
    if (returned === this.last && returned !== undefined) {
      this.close();
      return this.last as Promise<Result>;
    }
    if (!this.watching) this.watch(this.last);
    this.watching = true;
    return this.settle(returned, timedOut);
  }

  private next(request: Request): Promise<Result> {
    const { point, entry, inner } = this.layer;
    if (!this.open) return silent(Promise.reject(new NextExpiredError(entry.name, point.name)));
    if (request !== this.request) point.recordRequest(this.site(), this.request, request);
    if (!this.watching) this.watch(this.last);
    this.last = promiseOf(inner, request, this.run);
    if (this.watching) this.watch(this.last);
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

  private async settle(returned: unknown, timedOut: Promise<never> | undefined): Promise<Result> {
    const { point } = this.layer;
    try {
      const value = isPromise(returned) ? await this.bound(returned, timedOut) : returned;
      const result = point.accept(value, this.site(), this.request);
      if (!this.given?.includes(result)) {
        point.recordResult(this.site(), this.request, { given: this.given?.at(-1), result });
      }
      return result;
    } catch (error) {
      this.close();
      return await this.recover(error);
    } finally {
      this.close();
    }
  }

  private bound(returned: PromiseLike<unknown>, timedOut: Promise<never> | undefined): Awaitable<unknown> {
    return this.run.race(timedOut === undefined ? returned : Promise.race([returned, timedOut]));
  }

  private startTimer(timeoutMs: number): Promise<never> {
    const { point, entry } = this.layer;
    const { promise, reject } = createDeferred<never>();
    const expire = () => reject(new TimeoutExceededError(`${point.name} of "${entry.name}"`, timeoutMs));
    this.timer = new HookTimer(this.run.clock, timeoutMs, expire);
    return silent(promise);
  }

  private close(): void {
    this.open = false;
    this.timer?.clear();
  }

  /** `continue` goes on with what `next` last gave, or passes the hook over where it had not called it. */
  private recover(error: unknown): Awaitable<Result> {
    const { point, inner } = this.layer;
    if (!this.watching) this.watch(this.last);
    if (takeFailure(this.site(), error)) return point.blocked(this.site(), this.request, error);
    return this.last ?? inner(this.request, this.run);
  }

  private site(): HookSite {
    const { entry, point } = this.layer;
    return { entry, point: point.name, run: this.run, call: point.callOf?.(this.request) };
  }
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
