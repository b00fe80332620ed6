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
import { detailRules } from '../state/session-details.js';
import type { SessionDetails, SessionStore } from '../state/session-store.js';
import type { RunToolSource, ToolRun, ToolSource } from '../tools/tool.js';
import { ToolCatalog } from '../tools/tool-catalog.js';
import { assertDistinct, toolsOf } from '../tools/tool-set.js';
import { type OutputSchema, resolveOutput } from './run/output.js';
import type { ResumeDecisions } from './run/resume/continuation.js';
import type { AgentSettings, RunConfig, Timeouts, TurnLimit } from './run/run-config.js';

/** Options of an agent. */
export interface AgentOptions<Context = unknown> {
  readonly model: Model;
  /** Shown in errors, events and traces. Default: `agent`. */
  readonly name?: string | undefined;
  /** The system message. Sent with every model call, and not stored in the conversation. */
  readonly instructions?: string | undefined;
  readonly tools?: ToolSource<Context> | undefined;
  /** Called in order of descending priority, then in the order of this array. */
  readonly lifecycle?: readonly AgentLifecycle<Context>[] | undefined;
  /** Loaded in this order before the first run. A loader that appears twice is loaded once. */
  readonly loaders?: readonly LifecycleLoader[] | undefined;
  /** The maximum number of model calls in one run. Default: 20. */
  readonly maxTurns?: number | TurnLimit | undefined;
  /** Runs the tool calls of a turn in parallel. A number limits how many run at the same time. Default: true. */
  readonly parallelToolCalls?: boolean | number | undefined;
  readonly settings?: AgentSettings | undefined;
  readonly timeouts?: Timeouts | undefined;
  /** Stores the sessions. Default: in memory. */
  readonly store?: SessionStore | undefined;
  /** Default: logs warnings and errors to the console. */
  readonly logger?: Logger | undefined;
  /** The source of the time and of timers. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** Generates ids. Default: random ids. */
  readonly ids?: Ids | undefined;
}

/**
 * Options of one run. They override the agent's options for that run.
 *
 * @example
 * const result = await agent.run('Who wrote it?', {
 *   signal: AbortSignal.timeout(30_000),
 *   settings: { temperature: 0 },
 *   maxTurns: 5,
 * });
 */
export interface RunOptions<Context = unknown, Schema extends OutputSchema | undefined = undefined> {
  /** Aborts the run. The run ends with a RunAbortedError whose `cause` is the abort reason. */
  readonly signal?: AbortSignal | undefined;
  /** Passed to every hook and tool of the run. */
  readonly context?: Context | undefined;
  /** The previous messages of the conversation, without instructions. */
  readonly messages?: readonly MessageInput[] | undefined;
  /** The schema of the answer. The model is asked again once after a mismatch; then OutputInvalidError is thrown. */
  readonly output?: Schema | undefined;
  /** A decision for each open tool call at the end of `messages`. */
  readonly resume?: ResumeDecisions | undefined;
  /** Replaces the agent's model. */
  readonly model?: Model | undefined;
  /** Replaces the agent's `tools`. The tools of its lifecycles stay. */
  readonly tools?: RunToolSource<Context> | undefined;
  /** Merged over the agent's settings. */
  readonly settings?: AgentSettings | undefined;
  readonly maxTurns?: number | TurnLimit | undefined;
  /** Merged over the agent's timeouts. */
  readonly timeouts?: Timeouts | undefined;
  /** The run that this run is part of, from a hook or a tool context. Aborting the parent aborts this run. */
  readonly parent?: ToolRun | undefined;
}

/** The options argument of a run. Required if the agent has a `Context` type. */
export type RunArguments<Context, Schema extends OutputSchema | undefined = undefined> = unknown extends Context
  ? [options?: RunOptions<Context, Schema>]
  : [options: RunOptions<Context, Schema> & { readonly context: Context }];

/** The options argument of a run with an output schema. */
export type OutputRunArguments<Context, Schema extends OutputSchema> = unknown extends Context
  ? [options: RunOptions<Context, Schema> & { readonly output: Schema }]
  : [options: RunOptions<Context, Schema> & { readonly output: Schema; readonly context: Context }];

/** Options of `agent.session`. The owner, the title and the data are stored when the session is saved for the first time. */
export interface SessionOptions extends SessionDetails {
  /** The id of an existing session, or of a new one. Default: a generated id. */
  readonly id?: string | undefined;
  /** Replaces the agent's store for this session. */
  readonly store?: SessionStore | undefined;
  /**
   * `keep` (default) saves the user message of an aborted run, and the text that had been shown as an assistant message
   * with `stopped: true`. `discard` saves completed turns only.
   */
  readonly onAbort?: 'keep' | 'discard' | undefined;
}

/** The options of a run with any schema and context type. */
export type AnyRunOptions = RunOptions<never, OutputSchema | undefined>;

/** The part of a RunConfig that does not depend on lifecycles, with defaults, and the session store. */
export type AgentDefaults = Omit<RunConfig, 'chain' | 'catalog' | 'hub' | 'life'> & {
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
  promptCache: anything,
  providerOptions: anything,
  toolChoice: anything,
} satisfies OptionTable<AgentSettings>;

const timeoutRules = {
  runMs: timerMs,
  queueMs: timerMs,
  modelMs: timerMs,
  firstPartMs: timerMs,
  toolMs: timerMs,
  claimMs: timerMs,
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

/** Options that an agent and a run have in common. `tools` are checked when they are read. */
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

/** Options with the rule `anything` are checked where they are read. */
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

const sessionRules = {
  ...detailRules,
  id: fullText,
  store: sessionStore,
  onAbort: oneOf('keep', 'discard'),
} satisfies OptionTable<SessionOptions>;
const DEFAULT_MAX_TURNS = 20;

/** Checks the options of an agent and fills in the defaults. */
export function resolveAgentOptions(options: AgentOptions<never>): AgentDefaults {
  validateOptions(options, agentRules);
  const { instructions, parallelToolCalls = true } = options;
  return {
    agent: options.name ?? 'agent',
    model: options.model,
    instructions: instructions === '' ? undefined : instructions,
    ...turnLimitOf(options.maxTurns ?? DEFAULT_MAX_TURNS),
    parallelToolCalls: parallelToolCalls === true ? Number.POSITIVE_INFINITY : Number(parallelToolCalls) || 1,
    ...mergeSettings(options.settings),
    timeouts: { ...options.timeouts },
    logger: options.logger ?? consoleLogger,
    ids: options.ids ?? randomIds,
    clock: options.clock ?? systemClock,
    output: undefined,
    store: options.store ?? new MemorySessionStore(),
  };
}

/** Throws OptionInvalidError if an option of a run is invalid. */
export function checkRunOptions(options: AnyRunOptions): void {
  validateOptions(options, runRules);
}

/** Checks the options of a run and merges them over `config`. Returns `config` itself if nothing changes. */
export function resolveRunConfig(
  config: RunConfig,
  options: AnyRunOptions,
  lifecycleTools: () => readonly ToolSource<never>[],
): RunConfig {
  checkRunOptions(options);
  const { model, tools, settings, maxTurns, timeouts, output } = options;
  if (!(model || tools || settings || maxTurns !== undefined || timeouts || output)) return config;
  return {
    ...config,
    model: model ?? config.model,
    catalog: tools ? catalogOf([tools as ToolSource<never>, ...lifecycleTools()], config) : config.catalog,
    ...(settings ? mergeSettings(settings, { ...config.settings, toolChoice: config.toolChoice }) : {}),
    ...(maxTurns === undefined ? {} : turnLimitOf(maxTurns)),
    timeouts: { ...config.timeouts, ...timeouts },
    output: output ? resolveOutput(output) : config.output,
  };
}

function catalogOf(sources: readonly ToolSource<never>[], { logger }: RunConfig): ToolCatalog {
  assertDistinct(sources.flatMap(toolsOf));
  return new ToolCatalog(sources, logger);
}

/** Checks the options of a session and returns its store. */
export function resolveSessionStore(options: SessionOptions, store: SessionStore): SessionStore {
  validateOptions(options, sessionRules);
  return options.store ?? store;
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
