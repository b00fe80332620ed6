import { describeError, LoaderError } from '../errors.js';
import type { Clock } from '../internal/clock.js';
import { untilClosed } from '../lifecycle/host-hooks.js';
import type { LifecycleLoader, LoaderHost } from '../lifecycle/lifecycle.js';
import type { AgentLife } from './agent-life.js';

/** The state of a loader, as `status()` shows it. */
export interface LoaderStatus {
  readonly name: string;
  readonly state: 'pending' | 'loaded' | 'failed' | 'closed';
  /** The message of the error that the loader threw. */
  readonly error?: string | undefined;
  /** The result of the loader's own `status()`. */
  readonly details?: unknown;
}

/** A loader of an agent with its current state. */
export interface LoaderState {
  readonly loader: LifecycleLoader;
  state: LoaderStatus['state'];
  error: string | undefined;
}

/** The agent for which a loader is loaded. */
interface LoadingAgent {
  readonly host: LoaderHost;
  readonly life: AgentLife;
  readonly clock: Clock;
  /** Closes the loader. */
  close(): Promise<void>;
}

/** Runs one loader. If it fails, the lifecycles that it added are removed. */
export async function runLoader(entry: LoaderState, { host, life, clock, close }: LoadingAgent): Promise<void> {
  const { loader } = entry;
  const added: (() => void)[] = [];
  const use: LoaderHost['use'] = (lifecycle, replaced) => {
    const dispose = host.use(lifecycle, replaced);
    if (entry.state !== 'loaded') added.push(dispose);
    return dispose;
  };
  const ownHost = Object.create(host, { use: { value: use } }) as LoaderHost;
  const loading = new Promise<void>((resolve) => resolve(loader.load(ownHost)));
  try {
    await untilClosed(loading, life.stop, clock);
    entry.state = 'loaded';
    entry.error = undefined;
  } catch (cause) {
    for (const dispose of added) dispose();
    entry.state = 'failed';
    entry.error = describeError(cause);
    if (life.stop.stopped && cause === life.stop.reason) {
      // The loader may still acquire something after the failure, so close it once it settles.
      loading.then(close).catch(() => {});
      throw cause;
    }
    const error = new LoaderError(loader.name, cause);
    if (!loader.optional) throw error;
    host.logger.error(error.message, cause);
  }
}
