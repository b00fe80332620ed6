import { describeError, LoaderError, TimeoutExceededError } from '../errors.js';
import { type Clock, withinTime } from '../internal/clock.js';
import { logFailure } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import { callHostHook } from '../lifecycle/host-hooks.js';
import type { LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import type { LifecycleRegistry } from './lifecycle-registry.js';

const CLOSE_MS = 5_000;

/** A loader as `status()` shows it. */
export interface LoaderStatus {
  readonly name: string;
  readonly state: 'pending' | 'loaded' | 'failed' | 'closed';
  /** Why it failed. */
  readonly error?: string | undefined;
  /** What the loader says of itself. */
  readonly details?: unknown;
}

interface LoaderState {
  readonly loader: LifecycleLoader;
  state: LoaderStatus['state'];
  error: string | undefined;
}

/** Loads an agent's loaders in order, then initialises its lifecycles; at most once each. */
export class LoaderRunner {
  private readonly loaders: readonly LoaderState[];
  /** What is being loaded or initialised; after the agent's end nothing more is begun. */
  private current: Promise<void> | undefined = undefined;

  constructor(
    loaders: readonly LifecycleLoader[],
    private readonly registry: LifecycleRegistry,
    private readonly from: { readonly host: LoaderHost; readonly clock: Clock },
  ) {
    this.loaders = [...new Set(loaders)].map((loader) => ({ loader, state: 'pending', error: undefined }));
  }

  /** Whether nothing is left to do, so that a run need not wait. */
  get isDone(): boolean {
    return this.registry.isInitialised && this.loaders.every(isSettled);
  }

  /** Does what is left to do. A failure rejects, and is tried again by the next call. */
  ready(): Promise<void> {
    this.current ??= this.work().finally(() => {
      this.current = undefined;
    });
    return this.current;
  }

  status(): readonly LoaderStatus[] {
    return this.loaders.map(({ loader, state, error }) => ({
      name: loader.name,
      state,
      error,
      details: detailsOf(loader),
    }));
  }

  /** Closes what was loaded, last first. */
  async close(): Promise<void> {
    for (const entry of [...this.loaders].reverse()) {
      if (entry.state !== 'loaded') continue;
      entry.state = 'closed';
      await this.end(`Loader "${entry.loader.name}"`, () => entry.loader.close?.());
    }
  }

  /** What hangs or fails does not keep the agent from closing: it is logged. */
  async end(what: string, close: () => Awaitable<void> | undefined): Promise<void> {
    try {
      await withinTime(close(), new TimeoutExceededError(`closing of ${what}`, CLOSE_MS), this.from.clock);
    } catch (error) {
      logFailure(this.from.host, `${what} failed to close.`, error);
    }
  }

  private async work(): Promise<void> {
    const { host, clock } = this.from;
    for (const entry of this.loaders) {
      host.signal.throwIfAborted();
      if (!isSettled(entry)) await this.load(entry);
    }
    for (
      let entry = this.registry.nextUninitialised();
      entry !== undefined;
      entry = this.registry.nextUninitialised()
    ) {
      host.signal.throwIfAborted();
      await callHostHook(entry, { point: 'onInit', input: host, clock, logger: host.logger });
      this.registry.initialised(entry);
    }
  }

  /** What a loader that failed had added is taken out again. */
  private async load(entry: LoaderState): Promise<void> {
    let disposers: (() => void)[] | undefined = [];
    const use: LoaderHost['use'] = (lifecycle, replaced) => {
      const dispose = this.from.host.use(lifecycle, replaced);
      disposers?.push(dispose);
      return dispose;
    };
    try {
      await entry.loader.load(Object.create(this.from.host, { use: { value: use } }) as LoaderHost);
      entry.state = 'loaded';
      entry.error = undefined;
      disposers = undefined;
    } catch (cause) {
      for (const dispose of disposers ?? []) dispose();
      entry.state = 'failed';
      entry.error = describeError(cause);
      const error = new LoaderError(entry.loader.name, cause);
      if (!entry.loader.optional) throw error;
      this.from.host.logger.error(error.message, cause);
    }
  }
}

function detailsOf(loader: LifecycleLoader): unknown {
  try {
    return loader.status?.();
  } catch (error) {
    return { error: describeError(error) };
  }
}

function isSettled({ loader, state }: LoaderState): boolean {
  return state === 'loaded' || state === 'closed' || (state === 'failed' && loader.optional === true);
}
