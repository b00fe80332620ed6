import { logFailure } from '../internal/logger.js';
import { callHostHook } from '../lifecycle/host-hooks.js';
import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';
import type { RegisteredLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { UserMessage } from '../model/message.js';
import { AgentLife, startLimit } from './agent-life.js';
import { type AgentDefaults, type AgentOptions, type AnyRunOptions, resolveRunConfig } from './agent-options.js';
import { type AgentStatus, lifecycleStatus, toolStatus } from './agent-status.js';
import { LifecycleRegistry } from './lifecycle-registry.js';
import { AgentListeners } from './listeners.js';
import { LoaderRunner } from './loader-runner.js';
import { type Attached, NO_OPTIONS, Run, UNATTACHED } from './run/run.js';
import type { RunConfig } from './run/run-config.js';
import { startRun } from './run/start-run.js';
import type { RunResult } from './run-result.js';
import { AgentSessions } from './sessions.js';

/** Time limit in milliseconds for the aborted runs when the agent is closed. */
const CLOSE_MS = 5_000;

/** The implementation of an agent: its lifecycles, loaders, runs and sessions. */
export class Engine {
  readonly registry: LifecycleRegistry;
  readonly hub: AgentListeners;
  readonly sessions: AgentSessions;
  readonly life: AgentLife;
  readonly loading: LoaderRunner;
  readonly defaults: AgentDefaults;
  /** Maps each function that `use` returned to its lifecycle. */
  private readonly used = new WeakMap<() => void, RegisteredLifecycle>();
  private config: RunConfig;
  private closing: Promise<void> | undefined = undefined;

  constructor(options: AgentOptions<never>, defaults: AgentDefaults) {
    this.defaults = defaults;
    this.life = new AgentLife(defaults.agent);
    this.hub = new AgentListeners(defaults.logger);
    this.registry = new LifecycleRegistry(options.lifecycle ?? [], options.tools ?? [], defaults.logger);
    this.loading = new LoaderRunner(options.loaders ?? [], this.registry, {
      host: this.host(),
      stop: this.life.stop,
      clock: defaults.clock,
    });
    this.sessions = new AgentSessions(this);
    this.config = this.configure();
  }

  /** Starts a run after the loaders have finished. Never throws: invalid input rejects the promise. */
  launch(
    input: string | UserMessage,
    options: AnyRunOptions = NO_OPTIONS,
    attached: Attached = UNATTACHED,
  ): Promise<RunResult<unknown>> {
    try {
      const config = options === NO_OPTIONS ? this.config : this.configOf(options);
      if (this.life.stop.stopped || !this.loading.isDone) {
        return this.launchLater(input, options, limited(attached, config));
      }
      return startRun(new Run(config, options, attached), input, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  private async launchLater(
    input: string | UserMessage,
    options: AnyRunOptions,
    attached: Attached,
  ): Promise<RunResult<unknown>> {
    const { signal, parent } = options;
    const { left, limit } = attached;
    try {
      await this.life.waitBeforeRun(this.ready(), { signal, parent, left, limit });
      return await this.launch(input, options, attached);
    } finally {
      limit?.release();
    }
  }

  use(lifecycle: AgentLifecycle<never>, replaced?: () => void): () => void {
    this.life.assertOpen();
    const entry = this.registry.add(lifecycle, replaced && this.used.get(replaced));
    this.config = this.configure();
    const dispose = () => {
      if (this.registry.remove(entry)) this.config = this.configure();
    };
    this.used.set(dispose, entry);
    return dispose;
  }

  async ready(): Promise<void> {
    this.life.assertOpen();
    await this.life.track(this.loading.ready());
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  status(): AgentStatus {
    return {
      name: this.defaults.agent,
      model: this.defaults.model.id,
      closed: this.life.stop.stopped,
      runs: this.life.runs,
      sessions: this.sessions.count,
      lifecycles: this.registry.chain.entries.map(lifecycleStatus),
      tools: this.registry.catalog.current().tools.map(toolStatus),
      loaders: this.loading.status(),
    };
  }

  private configure(): RunConfig {
    const { registry, hub, life, defaults } = this;
    const { chain, catalog } = registry;
    return { ...defaults, chain, catalog, hub, life };
  }

  private configOf(options: AnyRunOptions): RunConfig {
    return resolveRunConfig(this.config, options, () => this.registry.lifecycleTools());
  }

  private host(): LoaderHost {
    const { life, defaults, registry } = this;
    return {
      agent: defaults.agent,
      logger: defaults.logger,
      get signal() {
        return life.stop.signal;
      },
      tools: () => registry.catalog.current().tools,
      generate: (request) => defaults.model.generate(request),
      use: (lifecycle, replaced) => this.use(lifecycle, replaced),
      closeAgent: () => this.close(),
    };
  }

  private async shutDown(): Promise<void> {
    const { life, defaults } = this;
    await life.close(defaults.clock, CLOSE_MS);
    await this.sessions.close();
    for (const entry of [...this.registry.chain.entries].reverse()) {
      const call = () =>
        callHostHook(entry, { ...defaults, point: 'onShutdown' }).catch((error) =>
          logFailure(defaults, error.message, error),
        );
      // An `onInit` that is still running may open something later, which `onShutdown` has to close.
      const pending = this.loading.pending.get(entry.status);
      if (pending === undefined) await call();
      else void pending.then(call, call);
    }
    await this.loading.close();
  }
}

/** Starts the limit of `timeouts.runMs` before the run, which has to wait. */
function limited(attached: Attached, { timeouts, clock }: RunConfig): Attached {
  return { ...attached, limit: attached.limit ?? startLimit(timeouts.runMs, clock) };
}
