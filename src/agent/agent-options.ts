import { type Clock, systemClock } from '../internal/clock.js';
import { type Ids, randomIds } from '../internal/ids.js';
import { isObject } from '../internal/json.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import {
  alsoCalled,
  anything,
  array,
  boolean,
  clock,
  fullText,
  group,
  listOf,
  logger,
  model,
  oneOf,
  required,
  runLog,
  sessionStore,
  text,
  textOrCall,
  timerMs,
  whole,
  withMethods,
} from '../internal/options/rules.js';
import { type OptionRule, type OptionTable, validateOptions } from '../internal/options/validate.js';
import type { AgentLifecycle, LifecycleLoader } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import type { MessageInput } from '../model/message.js';
import type { Model, ModelSettings } from '../model/model.js';
import { MemorySessionStore } from '../state/memory-session-store.js';
import type { RunLog } from '../state/run-log/run-log.js';
import { detailRules } from '../state/session-details.js';
import type { SessionDetails, SessionStore } from '../state/session-store.js';
import type { RunToolSource, ToolRun, ToolSource } from '../tools/tool.js';
import type { ToolCatalog } from '../tools/tool-catalog.js';
import { type OutputSchema, resolveOutput } from './run/output/output.js';
import type { ResumeDecisions } from './run/resume/continuation.js';
import type { AgentSettings, RunConfig, Timeouts, TurnLimit } from './run/run-config.js';

/** Options of an agent. */
export interface AgentOptions<Context = unknown> {
  readonly model: Model;
  /** Shown in errors, events and traces. Default: `agent`. */
  readonly name?: string | undefined;
  /**
   * The system message of every model call. It is not stored in the conversation. A function is called once in each
   * run, before the hooks.
   *
   * If a function returns another text in each run, the provider cannot reuse its cache of the conversation.
   */
  readonly instructions?: string | ((run: RunContext<Context>) => string) | undefined;
  readonly tools?: ToolSource<Context> | undefined;
  /** The lifecycles, called in order of descending priority, then in the order of this array. */
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
  /** Receives the log messages. Default: logs warnings and errors to the console. */
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
  /** The schema of the answer. After a mismatch, the model is asked once more; then OutputInvalidError is thrown. */
  readonly output?: Schema | undefined;
  /** Decisions on the suspended calls in `messages`, keyed by the ids in `pending`. Undecided calls keep waiting. */
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
  /** The enclosing run, from a hook or a tool context. Aborting the enclosing run aborts this run. */
  readonly parent?: ToolRun | undefined;
  /** For `stream`: true also yields the events of the nested runs, with their `path`. Default: false. */
  readonly nested?: boolean | undefined;
}

/** The options of a run in a session: all run options except `messages`, because the session stores the messages. */
export interface SessionRunOptions<Context = unknown, Schema extends OutputSchema | undefined = undefined>
  extends Omit<RunOptions<Context, Schema>, 'messages'> {
  /**
   * The id of the input message. If the session already has it, the run adds no message: it continues from the stored
   * message, or returns the earlier answer. Default: a generated id.
   */
  readonly id?: string | undefined;
  /**
   * The id of the entry after which the input is added. An earlier entry starts a new branch; `null` stands for the
   * start. Default: the latest entry.
   */
  readonly at?: string | null | undefined;
  /** Identifies who speaks or decides, for the record. */
  readonly by?: string | undefined;
}

/** The options argument of a run, in a session or not. Required if the agent has a `Context` type. */
export type RunArguments<Context, Options = RunOptions<Context>> = unknown extends Context
  ? [options?: Options]
  : [options: Options & { readonly context: Context }];

/** Options of `agent.session`. The owner, the title and the data are stored with the first entry of a new session. */
export interface SessionOptions extends SessionDetails {
  /** The id of an existing session, or of a new one. Default: a generated id. */
  readonly id?: string | undefined;
  /** Replaces the agent's store for this session. */
  readonly store?: SessionStore | undefined;
  /** Receives the events of the runs, so that `attach` can follow them from other requests and processes. Default: none. */
  readonly runLog?: RunLog | undefined;
  /**
   * `keep` stores the text that an aborted run has shown, as an assistant message with `stopped: true`. `discard` drops
   * this text. Default: `keep`.
   */
  readonly onAbort?: 'keep' | 'discard' | undefined;
}

/** The options of a run with any schema and context type. */
export type AnyRunOptions = RunOptions<never, OutputSchema | undefined>;

/** The options of a run in a session, with any schema and context type. */
export type AnySessionRunOptions = SessionRunOptions<never, OutputSchema | undefined>;

/** The options of an agent with defaults: the members of a RunConfig that do not depend on lifecycles, and the store. */
export type AgentDefaults = Omit<RunConfig, 'chain' | 'catalog' | 'hub' | 'life' | 'engine'> & {
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
  idleMs: timerMs,
  toolMs: timerMs,
  claimMs: timerMs,
} satisfies OptionTable<Timeouts>;

const turns = whole(1);

const maxTurns: OptionRule = {
  expected: 'a whole number of 1 or more, or `{ limit, total, atLimit }`',
  accepts: (value) => turns.accepts(value) || isObject(value),
  members: { limit: turns, total: turns, atLimit: oneOf('throw', 'answer') } satisfies OptionTable<TurnLimit>,
};

/** Options of both an agent and a run. `tools` are checked when they are read. */
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
  instructions: alsoCalled(textOrCall, 'system', 'systemPrompt', 'prompt'),
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

/** The rules of the options of a run. An option with the rule `anything` is checked by the code that reads it. */
const runRules = {
  ...sharedRules,
  model,
  signal: alsoCalled(withMethods('addEventListener', 'removeEventListener'), 'abortSignal'),
  context: anything,
  messages: alsoCalled(anything, 'history'),
  output: alsoCalled(anything, 'schema', 'outputType', 'responseFormat'),
  resume: anything,
  parent: anything,
  nested: boolean,
} satisfies OptionTable<RunOptions>;

/** The rules of the options of a run in a session. */
export const sessionRunRules = {
  ...runRules,
  id: fullText,
  at: { expected: 'the id of an entry, or null', accepts: (value) => value === null || fullText.accepts(value) },
  by: text,
} satisfies OptionTable<SessionRunOptions & RunOptions>;

/** The rules of the options of `agent.close`. */
export const closeRules = {
  drainMs: timerMs,
} satisfies OptionTable<{ readonly drainMs?: number | undefined }>;

/** The rules of the options of a session. */
export const sessionRules = {
  ...detailRules,
  id: fullText,
  store: sessionStore,
  runLog,
  onAbort: oneOf('keep', 'discard'),
} satisfies OptionTable<SessionOptions>;

/** Checks the options of an agent and fills in the defaults. */
export function resolveAgentOptions(options: AgentOptions<never>): AgentDefaults {
  validateOptions(options, agentRules);
  const { instructions, maxTurns = {}, parallelToolCalls = true } = options;
  return {
    agent: options.name ?? 'agent',
    model: options.model,
    instructions: instructions === '' ? undefined : instructions,
    ...turnLimitOf(maxTurns),
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

/** Checks the options of a run and merges them over `config`. Returns `config` itself if nothing changes. */
export function resolveRunConfig(
  config: RunConfig,
  options: AnyRunOptions,
  registry: { catalogOf(tools: ToolSource<never>): ToolCatalog },
): RunConfig {
  validateOptions(options, runRules);
  const { model, tools, settings, maxTurns, timeouts, output } = options;
  if (!(model || tools || settings || maxTurns !== undefined || timeouts || output)) return config;
  return {
    ...config,
    model: model ?? config.model,
    catalog: tools ? registry.catalogOf(tools as ToolSource<never>) : config.catalog,
    ...(settings ? mergeSettings(settings, { ...config.settings, toolChoice: config.toolChoice }) : {}),
    ...(maxTurns === undefined ? {} : turnLimitOf(maxTurns)),
    timeouts: { ...config.timeouts, ...timeouts },
    output: output ? resolveOutput(output) : config.output,
  };
}

function turnLimitOf(maxTurns: number | TurnLimit): Pick<RunConfig, 'maxTurns' | 'totalTurns' | 'atLimit'> {
  const given: TurnLimit = typeof maxTurns === 'number' ? { limit: maxTurns } : maxTurns;
  const { limit = 20, total: totalTurns, atLimit = 'throw' } = given;
  return { maxTurns: limit, totalTurns, atLimit };
}

function mergeSettings(settings: AgentSettings = {}, base?: AgentSettings): Pick<RunConfig, 'settings' | 'toolChoice'> {
  const { toolChoice, ...rest } = { ...base, ...settings };
  return { settings: Object.keys(rest).length === 0 ? undefined : (rest satisfies ModelSettings), toolChoice };
}
