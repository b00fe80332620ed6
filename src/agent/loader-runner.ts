import { describeError, TimeoutExceededError } from '../errors.js';
import { withinTime } from '../internal/clock.js';
import { logFailure } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import { callHostHook } from '../lifecycle/host-hooks.js';
import type { LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import type { RegisteredLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { LifecycleRegistry } from './lifecycle-registry.js';
import type { LoaderState, LoaderStatus } from './run-loader.js';

const CLOSE_MS = 5_000;

/** Runs an agent's loaders in order, then the `onInit` hooks. Each loader and hook succeeds at most once. */
export class LoaderRunner {
  /** The `onInit` hooks that timed out and are still running, keyed by the status of their lifecycle. */
  readonly pending = new Map<RegisteredLifecycle['status'], Promise<void>>();
  private readonly loaders: readonly LoaderState[];
  private current: Promise<void> | undefined = undefined;

  constructor(
    loaders: readonly LifecycleLoader[],
    private readonly registry: LifecycleRegistry,
    private readonly host: LoaderHost,
  ) {
    this.loaders = [...new Set(loaders)].map((loader) => ({ loader, state: 'pending', error: undefined }));
  }

  /** True if every loader and every `onInit` hook has finished. */
  get isDone(): boolean {
    return this.registry.uninitialised.size === 0 && this.loaders.every(isSettled);
  }

  /** Runs the loaders and `onInit` hooks that have not succeeded. After a failure, the next call tries again. */
  async ready(): Promise<void> {
    const { life } = this.registry.config;
    life.assertOpen();
    this.current ??= life.track(this.work()).finally(() => {
      this.current = undefined;
    });
    await this.current;
  }

  status(): readonly LoaderStatus[] {
    return this.loaders.map(({ loader, state, error }) => {
      return { name: loader.name, state, error, details: detailsOf(loader) };
    });
  }

  /** Closes the loaded loaders in reverse order. */
  async close(): Promise<void> {
    for (const entry of [...this.loaders].reverse()) {
      if (entry.state === 'loaded') await this.closeLoader(entry);
    }
  }

  private closeLoader(entry: LoaderState): Promise<void> {
    entry.state = 'closed';
    return this.end(`Loader "${entry.loader.name}"`, () => entry.loader.close?.());
  }

  /** Calls `close` with a time limit. Logs a failure or a timeout, so that the agent continues to close. */
  async end(what: string, close: () => Awaitable<void> | undefined): Promise<void> {
    const { config } = this.registry;
    try {
      await withinTime(close(), new TimeoutExceededError(`closing of ${what}`, CLOSE_MS), config.clock);
    } catch (error) {
      logFailure(config, `${what} failed to close.`, error);
    }
  }

  private async work(): Promise<void> {
    const { registry } = this;
    const { life } = registry.config;
    for (const entry of this.loaders) {
      life.assertOpen();
      if (!isSettled(entry)) await this.load(entry);
    }
    for (let entry = registry.firstNew; entry !== undefined; entry = registry.firstNew) {
      life.assertOpen();
      await this.initialise(entry);
    }
  }

  private async initialise(entry: RegisteredLifecycle): Promise<void> {
    const { config } = this.registry;
    const onAbandon = (pending: Promise<void>) => {
      this.pending.set(entry.status, pending);
      const settle = () => void this.pending.delete(entry.status);
      pending.then(settle, settle);
    };
    await callHostHook(entry, { ...config, point: 'onInit', input: this.host, stop: config.life.stop, onAbandon });
    this.registry.uninitialised.delete(entry);
  }

  /** Imports the code on first use, because many agents have no loader. */
  private async load(entry: LoaderState): Promise<void> {
    const { runLoader } = await import('./run-loader.js');
    const { life, clock } = this.registry.config;
    await runLoader(entry, { host: this.host, life, clock, close: () => this.closeLoader(entry) });
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
