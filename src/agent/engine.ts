import { logFailure } from '../internal/logger.js';
import { type DurableEngine, hookRunOf } from '../lifecycle/hook-run/hook-run.js';
import { callHostHook } from '../lifecycle/host-hooks.js';
import type { LoaderHost } from '../lifecycle/lifecycle.js';
import { HOOKS } from '../lifecycle/registered-lifecycle.js';
import type { AssistantMessage, UserMessage, WaitingRun } from '../model/message.js';
import type { Tool, ToolRun } from '../tools/tool.js';
import { isRunByCaller } from '../tools/tool-set.js';
import { AgentLife, startLimit } from './agent-life.js';
import { type AgentDefaults, type AgentOptions, type AnyRunOptions, resolveRunConfig } from './agent-options.js';
import { agentsFrom, handoffIn, warnOfStranger } from './handoff/reach.js';
import { LifecycleRegistry } from './lifecycle-registry.js';
import { AgentListeners } from './listeners.js';
import { LoaderRunner } from './loader-runner.js';
import { outerCallOf } from './run/outer-call.js';
import { type Attached, Run, UNATTACHED } from './run/run.js';
import { NO_OPTIONS, type RunConfig, type RunEngine } from './run/run-config.js';
import { startRun } from './run/start-run.js';
import type { LoaderStatus } from './run-loader.js';
import type { RunResult } from './run-result.js';
import type { BackgroundStatus } from './session/background/works.js';
import { AgentSessions } from './session/sessions.js';

/** The current state of an agent, as plain data. */
export interface AgentStatus {
  readonly name: string;
  readonly model: string;
  readonly closed: boolean;
  /** The number of active runs. */
  readonly runs: number;
  /** The number of open sessions. */
  readonly sessions: number;
  /** The background works of the open sessions. */
  readonly background: readonly BackgroundStatus[];
  /** The lifecycles in the order in which their hooks are called. */
  readonly lifecycles: readonly LifecycleStatus[];
  readonly tools: readonly ToolStatus[];
  readonly loaders: readonly LoaderStatus[];
}

/** A tool as `status()` shows it. */
interface ToolStatus {
  readonly name: string;
  readonly origin?: string | undefined;
  /** Set if the tool has no `execute`, so that the caller of the agent runs it. */
  readonly needs?: 'result' | undefined;
}

/** A lifecycle as `status()` shows it. */
interface LifecycleStatus {
  readonly name: string;
  readonly priority: number;
  readonly onFailure: 'throw' | 'continue' | 'block';
  /** The names of the hooks that the lifecycle implements. */
  readonly hooks: readonly string[];
}

/** Makes the nested run of an agent durable if the enclosing run is durable. */
function insideOf(parent: ToolRun, config: RunConfig): RunConfig {
  const engine = (hookRunOf(parent) as Run | undefined)?.config?.chain.durable;
  return engine === undefined || config.chain.durable !== undefined ? config : engine.adopt(config);
}

/** Stands for the suspended run to continue, if a nested run starts anew. */
const NO_RUN: Partial<WaitingRun> = {};

/** Time limit in milliseconds for the aborted runs when the agent is closed. */
const CLOSE_MS = 5_000;

/** The implementation of an agent: its lifecycles, loaders, runs and sessions. */
export class Engine implements RunEngine {
  readonly registry: LifecycleRegistry;
  readonly hub: AgentListeners;
  readonly sessions: AgentSessions;
  readonly life: AgentLife;
  readonly loading: LoaderRunner;
  private closing: Promise<void> | undefined = undefined;

  constructor(
    options: AgentOptions<never>,
    readonly defaults: AgentDefaults,
  ) {
    this.life = new AgentLife(defaults.agent);
    this.hub = new AgentListeners(defaults.logger);
    const { life, hub } = this;
    const base = { ...defaults, life, hub, engine: this };
    this.registry = new LifecycleRegistry(options.lifecycle ?? [], options.tools ?? [], base);
    this.loading = new LoaderRunner(options.loaders ?? [], this.registry, this.host());
    this.sessions = new AgentSessions(this);
  }

  /** Starts a run after the loaders have finished. Never throws: invalid input rejects the promise. */
  launch(
    input: string | UserMessage,
    options: AnyRunOptions = NO_OPTIONS,
    given: Attached = UNATTACHED,
  ): Promise<RunResult<unknown>> {
    try {
      const own = this.configFor(options, given);
      const config = options.parent === undefined ? own : insideOf(options.parent, own);
      const attached = options.parent === undefined ? given : this.placed(options.parent, given);
      // A run that is still active while the agent drains may start nested runs.
      const { life } = this;
      const isOpen = life.isOpen || (options.parent !== undefined && !life.stop.stopped);
      const isReady = isOpen && this.loading.isDone;
      if (isReady && !mayBelongToAnother(options.messages, config)) {
        return startRun(new Run(config, options, attached), input, options);
      }
      // Starts the limit `timeouts.runMs` now, because the run has to wait before it begins.
      const limit = attached.limit ?? startLimit(config.timeouts.runMs, config.clock);
      const limited = { ...attached, limit };
      if (!isReady) return this.launchLater(input, options, limited);
      return this.goOn(new Run(config, options, limited), input, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  get durable(): DurableEngine | undefined {
    return this.registry.config.chain.durable;
  }

  get name(): string {
    return this.defaults.agent;
  }

  configFor(options: AnyRunOptions, { tools }: Pick<Attached, 'tools'>): RunConfig {
    const { registry } = this;
    const own = options === NO_OPTIONS ? registry.config : resolveRunConfig(registry.config, options, registry);
    return tools === undefined ? own : { ...own, catalog: own.catalog.with(tools) };
  }

  /** Resolves when the loaders have finished, so that a run can be handed over to the agent. */
  async ready(): Promise<void> {
    if (!this.loading.isDone) await this.loading.ready();
  }

  /**
   * Gives a nested run its id, and the recorder that adds its entries to the session of the enclosing run. A run of a
   * session has both already.
   */
  private placed(parent: ToolRun, attached: Attached): Attached {
    const call = attached.runId === undefined ? outerCallOf(parent) : undefined;
    if (call === undefined) return attached;
    const { runId, path, earlier, canWait } = call.place();
    const { recorder: outer, keepsStopped } = (hookRunOf(parent) as Run).attached;
    const { turn: turnsBefore, messages, waits } = earlier?.run ?? NO_RUN;
    const recorder = outer?.nested({ runId, path, messages, canWait, agent: this.defaults.agent });
    const isRepeated = earlier !== undefined && earlier.decisions === undefined;
    return { ...attached, runId, turnsBefore, isRepeated, waits, recorder, keepsStopped };
  }

  private async launchLater(
    input: string | UserMessage,
    options: AnyRunOptions,
    attached: Attached,
  ): Promise<RunResult<unknown>> {
    try {
      await this.life.waitBeforeRun(this.loading.ready(), { ...options, ...attached });
      return await this.launch(input, options, attached);
    } finally {
      attached.limit?.release();
    }
  }

  /** Starts a run with the agent that owns the conversation after a handover. */
  private async goOn(run: Run, input: string | UserMessage, options: AnyRunOptions): Promise<RunResult<unknown>> {
    const { attached } = run;
    try {
      const handoff = handoffIn(run.config.catalog.current());
      if (handoff === undefined) {
        warnOfStranger(run.config, String(lastAnswerIn(options.messages)?.agent));
      } else {
        const { beginPart, partIn } = await handoff.load();
        const part = await this.life.waitBeforeRun(partIn(run, options.messages), { ...options, ...attached });
        if (part !== undefined) beginPart(run, part);
      }
      return await startRun(run, input, options);
    } finally {
      run.config.part?.end();
      attached.limit?.release();
    }
  }

  /** Finds a tool of the agent, or of the nearest agent that its runs may be handed over to. */
  findTool(name: string): Tool | undefined {
    const configOf = (agent: RunEngine) => agent.configFor(NO_OPTIONS, UNATTACHED);
    const own = configOf(this).catalog.current();
    if (!own.hasHandoffs) return own.find(name);
    const agents = agentsFrom(this, configOf);
    return agents.map((agent) => configOf(agent).catalog.current().find(name)).find((tool) => tool !== undefined);
  }

  close(drainMs: number): Promise<void> {
    this.closing ??= this.shutDown(drainMs);
    return this.closing;
  }

  status(): AgentStatus {
    const { defaults, life, sessions, loading } = this;
    const { chain, catalog } = this.registry.config;
    return {
      name: defaults.agent,
      model: defaults.model.id,
      closed: !life.isOpen,
      runs: life.runs,
      sessions: sessions.open.size,
      background: [...sessions.open].flatMap(({ works }) => works.list),
      lifecycles: chain.entries.map(({ lifecycle, name, priority, onFailure }) => {
        const hooks = HOOKS.filter((hook) => lifecycle[hook] !== undefined);
        return { name, priority, onFailure, hooks };
      }),
      tools: catalog.current().tools.map(toolStatus),
      loaders: loading.status(),
    };
  }

  private host(): LoaderHost {
    const { life, defaults, registry } = this;
    return {
      agent: defaults.agent,
      logger: defaults.logger,
      get signal() {
        return life.stop.signal;
      },
      tools: () => registry.config.catalog.current().tools,
      toolPrefixes: () => registry.config.catalog.prefixes(),
      generate: (request) => defaults.model.generate(request),
      use: (lifecycle, replaced) => registry.use(lifecycle, replaced),
      closeAgent: () => this.close(0),
    };
  }

  private async shutDown(drainMs: number): Promise<void> {
    const { life, defaults } = this;
    life.isOpen = false;
    if (drainMs > 0) await life.idle(defaults.clock, drainMs);
    await life.close(defaults.clock, CLOSE_MS);
    await this.sessions.close();
    for (const entry of [...this.registry.config.chain.entries].reverse()) {
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

/**
 * True if another agent may have to continue the messages, because of an earlier handover. Called before the messages
 * are checked.
 */
function mayBelongToAnother(messages: AnyRunOptions['messages'], { agent, catalog }: RunConfig): boolean {
  const last = lastAnswerIn(messages);
  return last !== undefined && ((last.agent ?? agent) !== agent || catalog.current().hasHandoffs);
}

function lastAnswerIn(messages: AnyRunOptions['messages']): Partial<AssistantMessage> | undefined {
  return Array.isArray(messages) ? messages.findLast((message) => message?.role === 'assistant') : undefined;
}

function toolStatus(tool: Tool): ToolStatus {
  const { name, origin } = tool;
  return isRunByCaller(tool) ? { name, origin, needs: 'result' } : { name, origin };
}
