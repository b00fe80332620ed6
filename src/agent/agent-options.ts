import { type Clock, systemClock } from '../internal/clock.js';
import { type Ids, randomIds } from '../internal/ids.js';
import { isObject } from '../internal/json.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import {
  alsoCalled,
  anything,
  array,
  clock,
  fullText,
  group,
  listOf,
  logger,
  model,
  oneOf,
  required,
  sessionStore,
  text,
  timerMs,
  whole,
  withMethods,
} from '../internal/options/rules.js';
import { type OptionRule, type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { AgentLifecycle, LifecycleLoader } from '../lifecycle/lifecycle.js';
import type { MessageInput } from '../model/message.js';
import type { Model, ModelSettings } from '../model/model.js';
import { MemorySessionStore } from '../state/memory-session-store.js';
import type { SessionStore } from '../state/session-store.js';
import type { RunToolSource, ToolRun, ToolSource } from '../tools/tool.js';
import { ToolCatalog } from '../tools/tool-catalog.js';
import { assertDistinct, toolsOf } from '../tools/tool-set.js';
import type { ResumeDecisions } from './run/continuation.js';
import { type OutputSchema, resolveOutput } from './run/output.js';
import type { AgentSettings, RunConfig, Timeouts, TurnLimit } from './run/run-config.js';

/** What an agent is made of. */
export interface AgentOptions<Context = unknown> {
  readonly model: Model;
  /** Shown in errors, events and traces. Default `agent`. */
  readonly name?: string | undefined;
  /** Sent to the model before every conversation, and never stored with it. */
  readonly instructions?: string | undefined;
  readonly tools?: ToolSource<Context> | undefined;
  /** In registration order; priority comes first. */
  readonly lifecycle?: readonly AgentLifecycle<Context>[] | undefined;
  /** Loaded in this order before the first run; one that stands here twice is loaded once. */
  readonly loaders?: readonly LifecycleLoader[] | undefined;
  /** Model calls in one run, 1 or more. Default 20. */
  readonly maxTurns?: number | TurnLimit | undefined;
  /** Whether the calls of a turn run at once, or how many may. Default true. */
  readonly parallelToolCalls?: boolean | number | undefined;
  readonly settings?: AgentSettings | undefined;
  readonly timeouts?: Timeouts | undefined;
  /** Where sessions live. Default: this process's memory. */
  readonly store?: SessionStore | undefined;
  /** Default: warnings and errors to the console. */
  readonly logger?: Logger | undefined;
  /** Where time comes from. */
  readonly clock?: Clock | undefined;
  /** Where ids come from. */
  readonly ids?: Ids | undefined;
}

/**
 * Options of one run. They replace the agent's own for that run.
 *
 * @example
 * const result = await agent.run('Who wrote it?', {
 *   signal: AbortSignal.timeout(30_000),
 *   settings: { temperature: 0 },
 *   maxTurns: 5,
 * });
 */
export interface RunOptions<Context = unknown, Schema extends OutputSchema | undefined = undefined> {
  /** Aborts the run: it ends with RunAbortedError, its `cause` the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Handed to every hook and tool of the run. */
  readonly context?: Context | undefined;
  /** The conversation so far, without instructions. */
  readonly messages?: readonly MessageInput[] | undefined;
  /** What the answer must be. A mismatch is repaired once, then OutputInvalidError. */
  readonly output?: Schema | undefined;
  /** Decisions on the calls that `messages` ends in. */
  readonly resume?: ResumeDecisions | undefined;
  /** In place of the agent's model. */
  readonly model?: Model | undefined;
  /** In place of the agent's own tools; those of its lifecycles stay. */
  readonly tools?: RunToolSource<Context> | undefined;
  /** Over the agent's settings, one by one. */
  readonly settings?: AgentSettings | undefined;
  readonly maxTurns?: number | TurnLimit | undefined;
  /** Over the agent's time-outs, one by one. */
  readonly timeouts?: Timeouts | undefined;
  /** The run that this one is part of, as a hook or a tool was given it: this one is aborted with it. */
  readonly parent?: ToolRun | undefined;
}

/** The options of a run, which are required exactly when the agent has a Context. */
export type RunArguments<Context, Schema extends OutputSchema | undefined = undefined> = unknown extends Context
  ? [options?: RunOptions<Context, Schema>]
  : [options: RunOptions<Context, Schema> & { readonly context: Context }];

/** The options of a run with an output schema. */
export type OutputRunArguments<Context, Schema extends OutputSchema> = unknown extends Context
  ? [options: RunOptions<Context, Schema> & { readonly output: Schema }]
  : [options: RunOptions<Context, Schema> & { readonly output: Schema; readonly context: Context }];

/** How a session is opened. */
export interface SessionOptions {
  /** Default: a new id. */
  readonly id?: string | undefined;
  /** In place of the agent's own store. */
  readonly store?: SessionStore | undefined;
}

/** The options of any run, whatever its schema and context. */
export type AnyRunOptions = RunOptions<never, OutputSchema | undefined>;

/** What does not depend on the lifecycles of an agent, with defaults filled in. */
export type AgentDefaults = Omit<RunConfig, 'chain' | 'catalog' | 'hub' | 'life' | 'isPlain'> & {
  readonly store: SessionStore;
};

const settingsRules = {
  temperature: anything,
  topP: anything,
  maxOutputTokens: anything,
  stopSequences: anything,
  seed: anything,
  presencePenalty: anything,
  frequencyPenalty: anything,
  reasoningEffort: anything,
  providerOptions: anything,
  toolChoice: anything,
} satisfies OptionTable<AgentSettings>;

const timeoutRules = {
  runMs: timerMs,
  modelMs: timerMs,
  firstPartMs: timerMs,
  toolMs: timerMs,
} satisfies OptionTable<Timeouts>;

const turnLimitRules = {
  limit: required(whole(1)),
  atLimit: oneOf('throw', 'answer'),
} satisfies OptionTable<TurnLimit>;

const turns = whole(1);

const maxTurns: OptionRule = {
  expected: 'a whole number of 1 or more, or `{ limit, atLimit }`',
  accepts: (value) => turns.accepts(value) || isObject(value),
  members: turnLimitRules,
};

/** What an agent and one of its runs may have. `tools` are checked as they are read. */
const sharedRules = {
  tools: anything,
  maxTurns: alsoCalled(maxTurns, 'maxSteps', 'maxIterations', 'stopWhen'),
  settings: alsoCalled(group(settingsRules), 'modelSettings'),
  timeouts: alsoCalled(group(timeoutRules), 'timeout', 'timeoutMs'),
} satisfies Partial<OptionTable<AgentOptions>>;

const agentRules = {
  ...sharedRules,
  model: required(model),
  name: fullText,
  instructions: alsoCalled(text, 'system', 'systemPrompt', 'prompt'),
  lifecycle: alsoCalled(array, 'middleware', 'hooks', 'callbacks'),
  loaders: alsoCalled(listOf(withMethods('load')), 'plugins', 'extensions', 'mcpServers'),
  parallelToolCalls: {
    expected: 'a boolean or a whole number of 1 or more',
    accepts: (value) => typeof value === 'boolean' || turns.accepts(value),
  },
  store: sessionStore,
  logger,
  clock,
  ids: withMethods('next'),
} satisfies OptionTable<AgentOptions>;

/** The others are checked by those who read them. */
const runRules = {
  ...sharedRules,
  model,
  signal: alsoCalled(withMethods('addEventListener', 'removeEventListener'), 'abortSignal'),
  context: anything,
  messages: alsoCalled(anything, 'history'),
  output: alsoCalled(anything, 'schema', 'outputType', 'responseFormat'),
  resume: anything,
  parent: anything,
} satisfies OptionTable<RunOptions>;

const sessionRules = { id: fullText, store: sessionStore } satisfies OptionTable<SessionOptions>;
const DEFAULT_MAX_TURNS = 20;

/** Checks an agent's options and fills their defaults. */
export function resolveAgentOptions(options: AgentOptions<never>): AgentDefaults {
  validateOptions(options, agentRules);
  const { instructions, parallelToolCalls = true } = options;
  return {
    agent: options.name ?? 'agent',
    model: options.model,
    instructions: instructions === '' ? undefined : instructions,
    ...turnLimitOf(options.maxTurns ?? DEFAULT_MAX_TURNS),
    parallelToolCalls: callsAtOnce(parallelToolCalls),
    ...mergeSettings(options.settings),
    timeouts: { ...options.timeouts },
    logger: options.logger ?? consoleLogger,
    ids: options.ids ?? randomIds,
    clock: options.clock ?? systemClock,
    output: undefined,
    store: options.store ?? new MemorySessionStore(),
  };
}

/** The configuration of one run: the agent's own where the run changes nothing. */
export function resolveRunConfig(
  config: RunConfig,
  options: AnyRunOptions,
  lifecycleTools: () => readonly ToolSource<never>[],
): RunConfig {
  validateOptions(options, runRules);
  const { model, tools, settings, maxTurns, timeouts, output } = options;
  if (!(model || tools || settings || maxTurns !== undefined || timeouts || output)) return config;
  const { toolChoice } = config;
  const changed = {
    ...config,
    ...(model && { model }),
    ...(tools && { catalog: catalogOf([tools as ToolSource<never>, ...lifecycleTools()], config) }),
    ...(settings && mergeSettings(settings, { ...config.settings, toolChoice })),
    ...(maxTurns !== undefined && turnLimitOf(maxTurns)),
    ...(timeouts && { timeouts: { ...config.timeouts, ...timeouts } }),
    ...(output && { output: resolveOutput(output) }),
  };
  return { ...changed, isPlain: isPlain(changed) };
}

function catalogOf(sources: readonly ToolSource<never>[], { logger }: RunConfig): ToolCatalog {
  assertDistinct(sources.flatMap(toolsOf));
  return new ToolCatalog(sources, logger);
}

/** Whether the model call of a run needs no watch on it, as far as its configuration says. */
export function isPlain({ chain, timeouts }: Pick<RunConfig, 'chain' | 'timeouts'>): boolean {
  return chain.wrapModelCall === undefined && timeouts.modelMs === undefined && timeouts.firstPartMs === undefined;
}

/** Checks the options of a session. Returns its store. */
export function resolveSessionStore(options: SessionOptions, store: SessionStore): SessionStore {
  validateOptions(options, sessionRules);
  return options.store ?? store;
}

function callsAtOnce(parallel: boolean | number): number {
  if (typeof parallel === 'number') return parallel;
  return parallel ? Number.POSITIVE_INFINITY : 1;
}

function turnLimitOf(maxTurns: number | TurnLimit): Pick<RunConfig, 'maxTurns' | 'atLimit'> {
  const { limit, atLimit = 'throw' } = typeof maxTurns === 'number' ? { limit: maxTurns } : maxTurns;
  return { maxTurns: limit, atLimit };
}

function mergeSettings(
  settings: AgentSettings | undefined,
  base?: AgentSettings,
): Pick<RunConfig, 'settings' | 'toolChoice'> {
  if (settings === undefined) return { settings: undefined, toolChoice: undefined };
  const { toolChoice, ...rest } = { ...base, ...settings };
  return { settings: Object.keys(rest).length === 0 ? undefined : (rest satisfies ModelSettings), toolChoice };
}
