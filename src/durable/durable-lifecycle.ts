import type { AgentOptions } from '../agent/agent-options.js';
import type { Run } from '../agent/run/run.js';
import type { RunConfig } from '../agent/run/run-config.js';
import { type Clock, systemClock } from '../internal/clock.js';
import { clock as clockRule } from '../internal/options/rules.js';
import { validateOption } from '../internal/options/validate.js';
import type { Chain } from '../lifecycle/chain.js';
import {
  callKey,
  DURABLE,
  type DurableEngine,
  type HookRun,
  hookRunOf,
  isAside,
} from '../lifecycle/hook-run/hook-run.js';
import type {
  AgentLifecycle,
  ModelCallNext,
  ModelCallRequest,
  ToolCallNext,
  ToolCallRequest,
} from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { ModelResponse } from '../model/model.js';
import type { RunLog } from '../state/run-log/run-log.js';
import type { SessionStore } from '../state/session-store.js';
import type { ToolResult, ToolSource } from '../tools/tool.js';
import { runsAgent } from '../tools/tool-set.js';
import { DurableSetupError } from './error.js';
import { durableChain, type HookNames, hooksOf, namedHooksOf } from './hook-chain.js';
import { membersOf, NamedLifecycles } from './named-lifecycles.js';
import { type DurableOptions, type ResolvedOptions, resolveDurableOptions } from './options.js';
import { Codec } from './record/codec.js';
import { recordEffects, stepScope } from './record/scope.js';
import { Steps } from './record/steps.js';
import { StoreRetries } from './record/store-retries.js';
import { RepeatedLog } from './repeated-log.js';
import { RunSteps, type StoredTurn } from './run-steps.js';
import { durableSessions } from './session-steps.js';
import type { BlobStore } from './step.js';
import { modelStep, toolStep } from './wraps.js';

/**
 * A lifecycle that runs the model calls and tool calls of an agent as steps of a durable engine. Created by {@link
 * durable}.
 */
export interface DurableLifecycle extends AgentLifecycle {
  /**
   * Returns the options for a durable agent. Adds this lifecycle, ids and a clock that are the same on a replay, and a
   * session store that works in steps.
   */
  options<Context = unknown>(options: AgentOptions<Context>): AgentOptions<Context>;
  /** Returns a session store that claims, loads and writes in steps. Pass it to `agent.session({ store })`. */
  sessions(store: SessionStore): SessionStore;
}

/**
 * Runs the model calls and tool calls of an agent as steps of a durable engine. Create one for each execution of the
 * engine, such as a Restate invocation, and create the agent with `options()` of the returned lifecycle.
 *
 * After a crash, the engine starts the execution again. Then each stored step returns its stored result without running
 * again, and the run continues after the last stored step.
 *
 * The wrap hooks of other lifecycles run once, inside a step. Their `before*` and `after*` hooks run again on a replay.
 * Such hooks must be deterministic, or you must name their lifecycle in `hooks`.
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

class DurableRuns implements DurableLifecycle, DurableEngine {
  readonly [DURABLE]: DurableEngine = this;
  readonly name = NAME;
  readonly priority = 100;
  private readonly steps: Steps;
  private readonly retries: StoreRetries;
  private readonly settings: ResolvedOptions;
  private readonly named: NamedLifecycles;
  /**
   * An object with only the wrap hooks of this class. An agent checks each member of a lifecycle, and checking all
   * members of this class would take too long.
   */
  private readonly wraps: AgentLifecycle;
  private readonly runs = new WeakMap<RunContext, RunSteps>();
  /** The clock of the first agent that ran in the execution. */
  private first: Clock | undefined = undefined;
  /** The names of the hooks that are steps, by the clock of their agent. */
  private readonly hooks = new WeakMap<Clock, HookNames>();
  /** The configuration that `adopt` made for an agent of nested runs, by the agent's own hooks, so that it is made once. */
  private readonly adopted = new WeakMap<Chain, Pick<RunConfig, 'chain' | 'clock' | 'ids'>>();
  /** True if an older version of this library began the execution, so that its rules still apply. */
  private isOld = false;
  /** The clocks of agents whose list of tools may change between two attempts. */
  private readonly withLiveTools = new WeakSet<Clock>();

  constructor(settings: ResolvedOptions) {
    this.settings = settings;
    const { step, blobs } = settings;
    this.retries = new StoreRetries(step, () => this.steps);
    const lasting: BlobStore | undefined = blobs && {
      put: (key, bytes) => this.retries.run(`\`blobs.put\` of "${key}"`, () => blobs.put(key, bytes)),
      get: (key) => this.retries.run(`\`blobs.get\` of "${key}"`, () => blobs.get(key)),
    };
    this.steps = new Steps(step, new Codec({ ...settings, blobs: lasting }));
    this.named = new NamedLifecycles(settings);
    this.wraps = Object.assign(membersOf(this as AgentLifecycle<never>) as AgentLifecycle, { [DURABLE]: this });
  }

  options<Context = unknown>(options: AgentOptions<Context>): AgentOptions<Context> {
    const { lifecycle = [], loaders = [], tools, store, logger } = options;
    // The agent reports the invalid option.
    if (!Array.isArray(lifecycle) || !Array.isArray(loaders)) return options;
    validateOption('clock', options.clock, clockRule);
    const clock = this.steps.time.clockOver(options.clock ?? systemClock);
    this.retries.logger ??= logger;
    if (loaders.length > 0 || [tools, ...lifecycle.map((one) => one?.tools)].some(isLive))
      this.withLiveTools.add(clock);
    const { outside, inside } = this.named.arrange(lifecycle);
    return {
      ...options,
      lifecycle: [...outside, this.wraps, ...inside] as readonly unknown[] as readonly AgentLifecycle<Context>[],
      loaders: loaders.map((loader) => this.named.loader(loader)),
      ids: this.steps.ids,
      clock,
      ...(store && { store: this.sessions(store) }),
    };
  }

  logOver(log: RunLog): RepeatedLog {
    return new RepeatedLog(log, this.steps);
  }

  sessions(store: SessionStore): SessionStore {
    return durableSessions(store, this.steps, this.retries);
  }

  /**
   * Decides which hooks of the run are steps. A run that was begun earlier keeps the hooks with which it was begun, so
   * that its stored steps still match.
   */
  async begin({ context }: HookRun): Promise<void> {
    if (stepScope.getStore() !== undefined) return;
    const known = this.known(context);
    if (!this.steps.owns(context)) throw new DurableSetupError(SETUP);
    const around = (hookRunOf(context.parent) as Run | undefined)?.config.chain.durable;
    if (around !== undefined && around !== this) throw new DurableSetupError(otherEngine(context.agent));
    this.named.assertPlaced();
    const { clock } = context;
    this.first ??= clock;
    const start = await this.steps.start(known.run, { hooks: known.own });
    if (start === null) return this.beginOld(known);
    if (this.first === clock && !this.hooks.has(clock)) this.hooks.set(clock, start.hooks);
    known.useHooks(this.hooks.get(clock) ?? known.own);
  }

  wrapModelCall(request: ModelCallRequest, next: ModelCallNext): Promise<ModelResponse> {
    if (stepScope.getStore() !== undefined) return next();
    const known = this.known(request.run);
    const { run } = known;
    const kind = isAside(request) && !this.isOld ? 'aside' : 'model';
    const number = known.next(kind);
    const call = {
      run,
      name: `${kind} ${number}`,
      key: `${run.context.idempotencyKey}:${kind}:${number}`,
      maxAttempts: this.settings.maxAttempts,
      pack: (response: ModelResponse) => (this.isOld ? response : known.stored(request, response)),
      unpack: (stored: unknown, isReplay: boolean) =>
        this.isOld ? (stored as ModelResponse) : this.restore(known, stored as StoredTurn, isReplay),
    };
    return modelStep(this.steps, call, { request, next });
  }

  wrapToolCall(call: ToolCallRequest, next: ToolCallNext): Promise<ToolResult> {
    if (stepScope.getStore() !== undefined) return next();
    // The calls of the nested agent are steps themselves.
    if (call.tool !== undefined && runsAgent(call.tool) && !this.isOld) return next();
    const { run } = this.known(call.run as RunContext);
    return toolStep(this.steps, { run, key: callKey(run, call.id) }, { call, next });
  }

  adopt<Config extends object>(given: Config): Config {
    if (this.isOld || stepScope.getStore() !== undefined) return given;
    const { chain, clock } = given as unknown as RunConfig;
    const known = this.adopted.get(chain) ?? {
      chain: durableChain(chain, this.wraps, this.settings.outside),
      clock: this.steps.time.clockOver(clock),
      ids: this.steps.ids,
    };
    this.adopted.set(chain, known);
    return { ...given, ...known };
  }

  private restore(known: RunSteps, stored: StoredTurn, isReplay: boolean): Promise<ModelResponse> {
    if (stored.hooks !== undefined) this.hooks.set(known.run.context.clock, stored.hooks);
    return known.restore(stored, isReplay);
  }

  /**
   * Begins a run in an execution that an older version of this library began. Hooks and tool lists become steps by the
   * rules of that version, so that the stored steps still match.
   */
  private beginOld(known: RunSteps): void {
    this.isOld = true;
    known.useHooks(namedHooksOf(known.run.config.chain, this.settings.hooks));
    if (this.withLiveTools.has(known.run.context.clock)) known.storeTools();
  }

  private known(context: RunContext): RunSteps {
    let known = this.runs.get(context);
    if (known === undefined) {
      const run = hookRunOf(context) as Run;
      known = new RunSteps(run, this.steps, hooksOf(run.config.chain, this.settings.hooks));
      this.runs.set(context, known);
      recordEffects(run, NAME, {
        checkEnd: (error) => this.steps.checkEnd(run, error),
        isOld: () => this.isOld,
        hasEnded: () => this.steps.hasEnded,
      });
      this.steps.watch(run);
    }
    return known;
  }
}

const SETUP =
  'The agent does not take its ids and its time from its durable lifecycle, so a replay would differ. ' +
  'Create the agent with `new Agent(engine.options({ … }))`, where `engine` is the result of `durable()`.';

function otherEngine(agent: string): string {
  return (
    `The agent "${agent}" has the options of another engine than the agent that runs it as a tool, so a replay would differ. ` +
    'Create both with the same result of `durable()`, or create the inner agent without `engine.options`.'
  );
}

function isLive(tools: ToolSource<never> | undefined): boolean {
  return tools !== undefined && !Array.isArray(tools);
}
