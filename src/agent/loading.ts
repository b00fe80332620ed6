import { describeError, LoaderError } from '../errors.js';
import type { Clock } from '../internal/clock.js';
import { callHostHook } from '../lifecycle/host-hooks.js';
import type { LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import type { Roster } from './roster.js';

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
export class Loading {
  private readonly loaders: readonly LoaderState[];
  private current: Promise<void> | undefined = undefined;

  constructor(
    loaders: readonly LifecycleLoader[],
    private readonly roster: Roster,
    private readonly from: { readonly host: LoaderHost; readonly clock: Clock },
  ) {
    this.loaders = loaders.map((loader) => ({ loader, state: 'pending', error: undefined }));
  }

  /** Whether nothing is left to do, so that a run need not wait. */
  get isDone(): boolean {
    return this.roster.uninitialised.length === 0 && this.loaders.every(isSettled);
  }

  /** Does what is left to do. A failure rejects, and is tried again by the next call. */
  ready(): Promise<void> {
    this.current ??= this.work().finally(() => {
      this.current = undefined;
    });
    return this.current;
  }

  status(): readonly LoaderStatus[] {
    return this.loaders.map(({ loader, state, error }) => {
      const details = loader.status?.();
      return {
        name: loader.name,
        state,
        ...(error !== undefined && { error }),
        ...(details !== undefined && { details }),
      };
    });
  }

  /** Closes what was loaded, last first. A failure is logged. */
  async close(): Promise<void> {
    for (const entry of [...this.loaders].reverse()) {
      if (entry.state !== 'loaded') continue;
      entry.state = 'closed';
      try {
        await entry.loader.close?.();
      } catch (error) {
        this.from.host.logger.error(`Loader "${entry.loader.name}" failed to close.`, error);
      }
    }
  }

  private async work(): Promise<void> {
    for (const entry of this.loaders) if (!isSettled(entry)) await this.load(entry);
    for (let entry = this.roster.uninitialised[0]; entry !== undefined; entry = this.roster.uninitialised[0]) {
      const { host, clock } = this.from;
      const call = ({ lifecycle }: typeof entry) => lifecycle.onInit?.(host);
      await callHostHook(entry, { point: 'onInit', call, clock, logger: host.logger });
      this.roster.uninitialised = this.roster.uninitialised.filter((other) => other !== entry);
    }
  }

  private async load(entry: LoaderState): Promise<void> {
    try {
      await entry.loader.load(this.from.host);
      entry.state = 'loaded';
      entry.error = undefined;
    } catch (cause) {
      entry.state = 'failed';
      entry.error = describeError(cause);
      const error = new LoaderError(entry.loader.name, cause);
      if (!entry.loader.optional) throw error;
      this.from.host.logger.error(error.message, cause);
    }
  }
}

function isSettled({ loader, state }: LoaderState): boolean {
  return state === 'loaded' || state === 'closed' || (state === 'failed' && loader.optional === true);
}
