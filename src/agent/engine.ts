import { AgentClosedError } from '../errors.js';
import { Stop } from '../internal/stop.js';
import type { Entry } from '../lifecycle/entry.js';
import { callHostHook, type HostHookCall } from '../lifecycle/host-hooks.js';
import type { AgentLifecycle, LoaderHost } from '../lifecycle/lifecycle.js';
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
import { EventHub } from './event-hub.js';
import { startRun, waitBeforeRun } from './launch.js';
import { Loading } from './loading.js';
import { Roster } from './roster.js';
import { type Attached, Run } from './run.js';
import type { AgentLife, RunConfig } from './run-config.js';
import type { RunResult } from './run-result.js';
import { AgentSession } from './session.js';

/** How long `close` waits for the runs that it aborted, and for each `onShutdown`. */
const CLOSE_MS = 5_000;
const UNATTACHED: Attached = {};
const NO_OPTIONS: AnyRunOptions = {};

/** What an agent works with: its lifecycles, loaders, runs and sessions. */
export class Engine {
  readonly roster: Roster;
  readonly hub: EventHub;
  private readonly loading: Loading;
  private readonly sessions = new Set<AgentSession>();
  /** Hooks of sessions, and of the end, that are at work. */
  private telling = 0;
  /** What each function that `use` returned would remove. */
  private readonly used = new WeakMap<() => void, Entry>();
  private readonly life: AgentLife;
  private config: RunConfig;
  private closing: Promise<void> | undefined = undefined;

  constructor(
    options: AgentOptions<never>,
    private readonly defaults: AgentDefaults,
  ) {
    const stop = new Stop();
    this.life = { stop, runs: 0 };
    this.hub = new EventHub(defaults.logger);
    this.roster = new Roster(options.lifecycle ?? [], options.tools ?? [], defaults.logger);
    this.loading = new Loading(options.loaders ?? [], this.roster, { host: this.host(), clock: defaults.clock });
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
      ended: (ended) => this.endSession(ended, this.roster.chain.entries),
    });
    await session.load();
    // Right before the hooks, so that a part which was added meanwhile has had its `onInit`.
    while (!this.loading.isDone) await this.ready();
    await this.startSession(session);
    this.sessions.add(session);
    return session;
  }

  use(lifecycle: AgentLifecycle<never>, replaced?: () => void): () => void {
    this.assertOpen();
    const entry = this.roster.add(lifecycle, replaced && this.used.get(replaced));
    this.config = this.configure();
    const dispose = () => {
      if (this.roster.remove(entry)) this.config = this.configure();
    };
    this.used.set(dispose, entry);
    return dispose;
  }

  async ready(): Promise<void> {
    this.assertOpen();
    await this.loading.ready();
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
      lifecycles: this.roster.chain.entries.map(lifecycleStatus),
      tools: this.roster.catalog.current().tools.map(toolStatus),
      loaders: this.loading.status(),
    };
  }

  private configure(): RunConfig {
    const { roster, hub, life, defaults } = this;
    const { chain, catalog } = roster;
    return { ...defaults, chain, catalog, hub, life, isPlain: isPlain({ chain, timeouts: defaults.timeouts }) };
  }

  private configOf(options: AnyRunOptions): RunConfig {
    return resolveRunConfig(this.config, options, () => this.roster.lifecycleTools());
  }

  private host(): LoaderHost {
    const { life, defaults, roster } = this;
    return {
      agent: defaults.agent,
      logger: defaults.logger,
      get signal() {
        return life.stop.signal;
      },
      tools: () => roster.catalog.current().tools,
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
    const started: Entry[] = [];
    try {
      for (const entry of this.roster.chain.entries) {
        this.assertOpen();
        await this.call(entry, {
          point: 'onSessionStart',
          call: ({ lifecycle }) => lifecycle.onSessionStart?.(session),
        });
        started.push(entry);
      }
      this.assertOpen();
    } catch (error) {
      await this.endSession(session, started).catch((later) => this.defaults.logger.error(later.message, later));
      throw error;
    }
  }

  /** Each part is called, whatever the others do; then the first failure is thrown. */
  private async endSession(session: SessionInfo, entries: readonly Entry[]): Promise<void> {
    this.sessions.delete(session as AgentSession);
    const failures: unknown[] = [];
    for (const entry of entries) {
      const call: HostHookCall['call'] = ({ lifecycle }) => lifecycle.onSessionEnd?.(session);
      await this.call(entry, { point: 'onSessionEnd', call }).catch((error) => failures.push(error));
    }
    if (failures.length > 0) throw failures[0];
  }

  private async shutDown(): Promise<void> {
    const { logger, agent } = this.defaults;
    this.life.stop.stop(new AgentClosedError(agent));
    await this.settled();
    for (const session of this.sessions) await this.loading.end(`Session "${session.id}"`, () => session.close());
    const call: HostHookCall['call'] = ({ lifecycle }) => lifecycle.onShutdown?.();
    for (const entry of [...this.roster.chain.entries].reverse()) {
      await this.call(entry, { point: 'onShutdown', call, timeoutMs: CLOSE_MS }).catch((error) =>
        logger.error(error.message, error),
      );
    }
    await this.loading.close();
  }

  /** What heeds no signal is waited for, but not for ever; so is a hook that awaits this very end. */
  private async settled(): Promise<void> {
    const { clock } = this.defaults;
    const deadline = clock.now() + CLOSE_MS;
    while ((this.life.runs + this.telling > 0 || this.loading.current) && clock.now() < deadline) {
      await new Promise<void>((resolve) => void clock.setTimeout(resolve, 5));
    }
  }

  private async call(entry: Entry, hook: Omit<HostHookCall, 'logger' | 'clock'>): Promise<void> {
    const { logger, clock } = this.defaults;
    this.telling += 1;
    try {
      await callHostHook(entry, { ...hook, logger, clock });
    } finally {
      this.telling -= 1;
    }
  }
}
