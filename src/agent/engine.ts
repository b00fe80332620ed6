import { AgentClosedError } from '../errors.js';
import { logFailure } from '../internal/logger.js';
import { Stop } from '../internal/stop.js';
import { callHostHook } from '../lifecycle/host-hooks.js';
import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';
import type { RegisteredLifecycle } from '../lifecycle/registered-lifecycle.js';
import type { SessionInfo } from '../lifecycle/run-context.js';
import type { UserMessage } from '../model/message.js';
import {
  type AgentDefaults,
  type AgentOptions,
  type AnyRunOptions,
  isPlain,
  resolveRunConfig,
  resolveSessionStore,
  type SessionOptions,
} from './agent-options.js';
import { type AgentStatus, lifecycleStatus, toolStatus } from './agent-status.js';
import { LifecycleRegistry } from './lifecycle-registry.js';
import { AgentListeners } from './listeners.js';
import { LoaderRunner } from './loader-runner.js';
import { type Attached, Run } from './run/run.js';
import type { AgentLife, RunConfig } from './run/run-config.js';
import { startRun } from './run/start-run.js';
import type { RunResult } from './run-result.js';
import { AgentSession } from './session.js';
import { waitBeforeRun } from './wait-before-run.js';

/** How long `close` waits for the runs that it aborted, and for each `onShutdown`. */
const CLOSE_MS = 5_000;
/** Sessions whose `onSessionEnd` may run at a time: all at once would slow each other down until none is in time. */
const CLOSED_AT_ONCE = 8;
const UNATTACHED: Attached = {};
const NO_OPTIONS: AnyRunOptions = {};

/** What an agent works with: its lifecycles, loaders, runs and sessions. */
export class Engine {
  readonly registry: LifecycleRegistry;
  readonly hub: AgentListeners;
  private readonly loading: LoaderRunner;
  private readonly sessions = new Set<AgentSession>();
  /** What is loading, and sessions whose hooks are at work. */
  private busy = 0;
  /** What each function that `use` returned would remove. */
  private readonly used = new WeakMap<() => void, RegisteredLifecycle>();
  private readonly life: AgentLife;
  private config: RunConfig;
  private closing: Promise<void> | undefined = undefined;

  constructor(
    options: AgentOptions<never>,
    private readonly defaults: AgentDefaults,
  ) {
    const stop = new Stop();
    this.life = { stop, runs: 0, onEnd() {} };
    this.hub = new AgentListeners(defaults.logger);
    this.registry = new LifecycleRegistry(options.lifecycle ?? [], options.tools ?? [], defaults.logger);
    this.loading = new LoaderRunner(options.loaders ?? [], this.registry, { host: this.host(), clock: defaults.clock });
    this.config = this.configure();
  }

  /** Starts a run, once everything is loaded. Never throws: what is wrong with its input is a rejection. */
  launch(
    input: string | UserMessage,
    options: AnyRunOptions = NO_OPTIONS,
    attached: Attached = UNATTACHED,
  ): Promise<RunResult<unknown>> {
    try {
      const config = options === NO_OPTIONS ? this.config : this.configOf(options);
      if (this.closing !== undefined || !this.loading.isDone) return this.launchLater(input, options, attached);
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
    await waitBeforeRun(this.ready(), { options, attached, life: this.life.stop });
    return this.launch(input, options, attached);
  }

  async openSession(options: SessionOptions): Promise<AgentSession> {
    this.assertOpen();
    const { defaults } = this;
    const store = resolveSessionStore(options, defaults.store);
    const session = new AgentSession(options.id ?? defaults.ids.next('session'), {
      store,
      life: this.life.stop,
      launch: (input, options, attached) => this.launch(input, options, attached),
      ended: (ended) => this.track(this.endSession(ended, this.registry.chain.entries)),
    });
    await session.load();
    // Right before the hooks, so that a part which was added meanwhile has had its `onInit`.
    while (!this.loading.isDone) await this.ready();
    await this.track(this.startSession(session));
    this.sessions.add(session);
    return session;
  }

  use(lifecycle: AgentLifecycle<never>, replaced?: () => void): () => void {
    this.assertOpen();
    const entry = this.registry.add(lifecycle, replaced && this.used.get(replaced));
    this.config = this.configure();
    const dispose = () => {
      if (this.registry.remove(entry)) this.config = this.configure();
    };
    this.used.set(dispose, entry);
    return dispose;
  }

  async ready(): Promise<void> {
    this.assertOpen();
    await this.track(this.loading.ready());
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  status(): AgentStatus {
    return {
      name: this.defaults.agent,
      model: this.defaults.model.id,
      closed: this.closing !== undefined,
      runs: this.life.runs,
      sessions: this.sessions.size,
      lifecycles: this.registry.chain.entries.map(lifecycleStatus),
      tools: this.registry.catalog.current().tools.map(toolStatus),
      loaders: this.loading.status(),
    };
  }

  private configure(): RunConfig {
    const { registry, hub, life, defaults } = this;
    const { chain, catalog } = registry;
    return { ...defaults, chain, catalog, hub, life, isPlain: isPlain({ chain, timeouts: defaults.timeouts }) };
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

  private assertOpen(): void {
    if (this.closing !== undefined) throw new AgentClosedError(this.defaults.agent);
  }

  /**
   * Where a part refuses, or the agent is closed meanwhile, those that were called get their `onSessionEnd`, and the
   * session is not opened.
   */
  private async startSession(session: SessionInfo): Promise<void> {
    const started: RegisteredLifecycle[] = [];
    try {
      for (const entry of this.registry.chain.entries) {
        this.assertOpen();
        await callHostHook(entry, { ...this.defaults, point: 'onSessionStart', input: session });
        started.push(entry);
      }
      this.assertOpen();
    } catch (error) {
      await this.endSession(session, started).catch(this.log);
      throw error;
    }
  }

  /** Each part is called, whatever the others do; then the first failure is thrown. */
  private async endSession(session: SessionInfo, entries: readonly RegisteredLifecycle[]): Promise<void> {
    this.sessions.delete(session as AgentSession);
    const failures: unknown[] = [];
    for (const entry of entries) {
      const ended = callHostHook(entry, { ...this.defaults, point: 'onSessionEnd', input: session });
      await ended.catch((error) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  private async shutDown(): Promise<void> {
    this.life.stop.stop(new AgentClosedError(this.defaults.agent));
    await this.settled();
    const open = this.sessions.values();
    await Promise.all(Array.from({ length: CLOSED_AT_ONCE }, () => this.closeSessions(open)));
    for (const entry of [...this.registry.chain.entries].reverse()) {
      await callHostHook(entry, { ...this.defaults, point: 'onShutdown', timeoutMs: CLOSE_MS }).catch(this.log);
    }
    await this.loading.close();
  }

  private async closeSessions(open: Iterable<AgentSession>): Promise<void> {
    for (const session of open) await this.loading.end(`Session "${session.id}"`, () => session.close());
  }

  /** What heeds no signal is waited for, but not for ever; so is a hook that awaits this very end. */
  private settled(): Promise<void> {
    const { life, defaults } = this;
    return new Promise((resolve) => {
      const timer = defaults.clock.setTimeout(resolve, CLOSE_MS);
      life.onEnd = () => {
        if (life.runs + this.busy === 0) resolve(defaults.clock.clearTimeout(timer));
      };
      life.onEnd();
    });
  }

  private readonly log = (error: Error): void => logFailure(this.defaults, error.message, error);

  /** The end of the agent waits for it. */
  private track(work: Promise<void>): Promise<void> {
    this.busy += 1;
    return work.finally(() => {
      this.busy -= 1;
      this.life.onEnd();
    });
  }
}
