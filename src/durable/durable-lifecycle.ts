import type { AgentOptions } from '../agent/agent-options.js';
import type { Run } from '../agent/run/run.js';
import { type Clock, systemClock } from '../internal/clock.js';
import { clock as clockRule } from '../internal/options/rules.js';
import { validateOption } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import { callKey, DURABLE, hookRunOf } from '../lifecycle/hook-run/hook-run.js';
import type {
  AgentLifecycle,
  ModelCall,
  ModelCallRequest,
  ToolCallRequest,
  ToolInvoke,
} from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { ModelResponse } from '../model/model.js';
import type { SessionStore } from '../state/session-store.js';
import type { Tool, ToolResult, ToolSource } from '../tools/tool.js';
import { DurableSetupError } from './error.js';
import { membersOf, NamedLifecycles } from './named-lifecycles.js';
import { type DurableOptions, type ResolvedOptions, resolveDurableOptions } from './options.js';
import { Codec } from './record/codec.js';
import { recordEffects, stepScope } from './record/scope.js';
import { Steps } from './record/steps.js';
import { durableSessions } from './session-steps.js';
import { storedTools } from './tool-list.js';
import { modelStep, toolStep } from './wraps.js';

/** A lifecycle that makes the calls of an agent steps of a durable engine. Made by {@link durable}. */
export interface DurableLifecycle extends AgentLifecycle {
  /**
   * Returns the options of an agent whose runs are durable. Adds this lifecycle, `ids`, `clock`, and a session store that
   * loads and saves in steps.
   */
  options<Context = unknown>(options: AgentOptions<Context>): AgentOptions<Context>;
  /** Makes a session store that loads and saves in steps, for `agent.session({ store })`. */
  sessions(store: SessionStore): SessionStore;
}

/**
 * Makes the model calls and the tool calls of an agent steps of a durable engine. Create one for each execution of the
 * engine, such as a Restate invocation, and pass `options` to the agent. When the engine starts the execution again after a
 * crash, each stored step gives its stored result, and the run continues after it.
 *
 * Priority 100: the wraps of other lifecycles run inside of a step, once. Their `before*` and `after*` hooks run again on a
 * replay, so they must be deterministic, or be named in `hooks`.
 *
 * @example
 * const engine = durable({ step: restateStep(ctx) });
 * const agent = new Agent(engine.options({ model, tools }));
 * const { text } = await agent.run(question);
 */
export function durable(options: DurableOptions): DurableLifecycle {
  return new DurableRuns(resolveDurableOptions(options));
}

const NAME = 'durable';

/** The counts of a run, which number its steps. */
interface KnownRun {
  readonly run: Run;
  /** The number of model calls that have begun. */
  models: number;
  /** The number of tool lists. */
  lists: number;
  /** The number of times that each call has begun. A hook may begin a call again. */
  readonly calls: Map<string, number>;
}

class DurableRuns implements DurableLifecycle {
  readonly name = NAME;
  readonly priority = 100;
  private readonly steps: Steps;
  private readonly settings: ResolvedOptions;
  private readonly named: NamedLifecycles;
  /** The hooks alone. An agent compares each other member with the names of hooks, which takes longer than the rest. */
  private readonly hooks: AgentLifecycle;
  private readonly runs = new WeakMap<RunContext, KnownRun>();
  /** The clocks of the agents whose tools may differ between two attempts. */
  private readonly withLiveTools = new WeakSet<Clock>();

  constructor(settings: ResolvedOptions) {
    this.settings = settings;
    this.steps = new Steps(settings.step, new Codec(settings));
    this.named = new NamedLifecycles(settings, this.steps);
    this.hooks = Object.assign(membersOf(this as AgentLifecycle<never>) as AgentLifecycle, { [DURABLE]: true });
  }

  options<Context = unknown>(options: AgentOptions<Context>): AgentOptions<Context> {
    const { lifecycle = [], loaders = [], tools, store } = options;
    // The agent describes the invalid option.
    if (!Array.isArray(lifecycle) || !Array.isArray(loaders)) return options;
    validateOption('clock', options.clock, clockRule);
    const clock = this.steps.clockOver(options.clock ?? systemClock);
    if (loaders.length > 0 || [tools, ...lifecycle.map((one) => one?.tools)].some(isLive))
      this.withLiveTools.add(clock);
    const { outside, inside } = this.named.arrange(lifecycle);
    return {
      ...options,
      lifecycle: [...outside, this.hooks, ...inside] as readonly unknown[] as readonly AgentLifecycle<Context>[],
      loaders: loaders.map((loader) => this.named.loader(loader)),
      ids: this.steps.ids,
      clock,
      ...(store && { store: this.sessions(store) }),
    };
  }

  sessions(store: SessionStore): SessionStore {
    return durableSessions(store, this.steps);
  }

  async beforeAgent(_input: string, run: RunContext): Promise<void> {
    if (stepScope.getStore() !== undefined) return;
    if (!this.steps.owns(run)) throw new DurableSetupError(SETUP);
    this.named.assertPlaced();
    await this.steps.start(this.known(run).run);
  }

  beforeToolSelection(tools: readonly Tool[], run: RunContext): Awaitable<readonly Tool[]> {
    if (!this.withLiveTools.has(run.clock) || stepScope.getStore() !== undefined) return tools;
    const known = this.known(run);
    known.lists += 1;
    return storedTools(this.steps, tools, { run: known.run, number: known.lists });
  }

  wrapModelCall(request: ModelCallRequest, next: ModelCall): Promise<ModelResponse> {
    if (stepScope.getStore() !== undefined) return next();
    const known = this.known(request.run);
    known.models += 1;
    const { maxAttempts } = this.settings;
    return modelStep(this.steps, { run: known.run, number: known.models, maxAttempts }, { request, next });
  }

  wrapToolCall(call: ToolCallRequest, next: ToolInvoke): Promise<ToolResult> {
    if (stepScope.getStore() !== undefined) return next();
    const { run, calls } = this.known(call.run as RunContext);
    const key = callKey(run, call.id);
    const nth = (calls.get(key) ?? 0) + 1;
    calls.set(key, nth);
    return toolStep(this.steps, { run, key: nth === 1 ? key : `${key}#${nth}` }, { call, next });
  }

  private known(context: RunContext): KnownRun {
    let known = this.runs.get(context);
    if (known === undefined) {
      const run = hookRunOf(context) as Run;
      known = { run, models: 0, lists: 0, calls: new Map() };
      this.runs.set(context, known);
      recordEffects(run, NAME);
      this.steps.watch(run);
    }
    return known;
  }
}

const SETUP =
  'The agent does not take its ids and its time from its durable lifecycle, so a replay would differ. ' +
  'Create the agent with `new Agent(engine.options({ … }))`, where `engine` is the result of `durable()`.';

function isLive(tools: ToolSource<never> | undefined): boolean {
  return tools !== undefined && !Array.isArray(tools);
}
