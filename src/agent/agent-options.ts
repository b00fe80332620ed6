import { OptionInvalidError, refuse, validateNames } from '../errors.js';
import { type Clock, isTimerMs, MAX_TIMER_MS, systemClock } from '../internal/clock.js';
import { type Ids, randomIds } from '../internal/ids.js';
import { isObject } from '../internal/json.js';
import { consoleLogger, type Logger } from '../internal/logger.js';
import type { AgentLifecycle, LifecycleLoader } from '../lifecycle/lifecycle.js';
import type { MessageInput } from '../model/message.js';
import type { Model, ModelSettings } from '../model/model.js';
import { MemorySessionStore } from '../state/memory-session-store.js';
import type { SessionStore } from '../state/session-store.js';
import type { RunToolSource, ToolRun, ToolSource } from '../tools/tool.js';
import { assertDistinct, toolsOf } from '../tools/tool-set.js';
import type { ResumeDecisions } from './run/continuation.js';
import { type OutputSchema, resolveOutput } from './run/output.js';
import type { AgentSettings, RunConfig, Timeouts, TurnLimit } from './run/run-config.js';
import { ToolCatalog } from './tool-catalog.js';

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

/** What one run may have of its own. */
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

const AGENT_KEYS = [
  ...['model', 'name', 'instructions', 'tools', 'lifecycle', 'loaders', 'maxTurns', 'parallelToolCalls'],
  ...['settings', 'timeouts', 'store', 'logger', 'clock', 'ids'],
];
const RUN_KEYS = [
  ...['signal', 'context', 'messages', 'output', 'resume', 'model', 'tools', 'settings', 'maxTurns', 'timeouts'],
  'parent',
];
const TIMEOUTS: readonly (keyof Timeouts)[] = ['runMs', 'modelMs', 'firstPartMs', 'toolMs'];
const SETTINGS: readonly (keyof AgentSettings)[] = [
  ...(['temperature', 'topP', 'maxOutputTokens', 'stopSequences', 'seed', 'presencePenalty'] as const),
  ...(['frequencyPenalty', 'reasoningEffort', 'providerOptions', 'toolChoice'] as const),
];
const DEFAULT_MAX_TURNS = 20;

/** Checks an agent's options and fills their defaults. */
export function resolveAgentOptions(options: AgentOptions<never>): AgentDefaults {
  validateNames(options, AGENT_KEYS);
  for (const loader of listOf('loaders', options.loaders)) withMethods('loaders', loader, ['load']);
  listOf('lifecycle', options.lifecycle);
  const { name = 'agent', instructions, settings, timeouts = {} } = options;
  if (typeof name !== 'string' || name === '') refuse('name', name, 'give a text');
  if (instructions !== undefined && typeof instructions !== 'string') {
    refuse('instructions', instructions, 'give a text');
  }
  return {
    agent: name,
    model: resolveModel(options.model),
    instructions: instructions === '' ? undefined : instructions,
    ...resolveTurnLimit(options.maxTurns ?? DEFAULT_MAX_TURNS),
    parallelToolCalls: resolveParallel(options.parallelToolCalls ?? true),
    ...resolveSettings(settings),
    timeouts: resolveTimeouts(timeouts),
    logger: withMethods('logger', options.logger ?? consoleLogger, ['debug', 'info', 'warn', 'error']),
    ids: withMethods('ids', options.ids ?? randomIds, ['next']),
    clock: withMethods('clock', options.clock ?? systemClock, ['now', 'setTimeout', 'clearTimeout']),
    output: undefined,
    store: resolveStore(options.store ?? new MemorySessionStore()),
  };
}

/** The configuration of one run: the agent's own where the run changes nothing. */
export function resolveRunConfig(
  config: RunConfig,
  options: AnyRunOptions,
  lifecycleTools: () => readonly ToolSource<never>[],
): RunConfig {
  validateNames(options, RUN_KEYS);
  const { model, tools, settings, maxTurns, timeouts, output, signal } = options;
  if (signal !== undefined) withMethods('signal', signal, ['addEventListener', 'removeEventListener']);
  if (!(model || tools || settings || maxTurns !== undefined || timeouts || output)) return config;
  const { toolChoice } = config;
  const changed = {
    ...config,
    ...(model && { model: resolveModel(model) }),
    ...(tools && { catalog: catalogOf([tools as ToolSource<never>, ...lifecycleTools()], config) }),
    ...(settings && resolveSettings(settings, { ...config.settings, toolChoice })),
    ...(maxTurns !== undefined && resolveTurnLimit(maxTurns)),
    ...(timeouts && { timeouts: resolveTimeouts(timeouts, config.timeouts) }),
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

/** Throws where a value lacks one of the methods that it is used for. */
function withMethods<T>(option: string, value: T, methods: readonly (keyof T & string)[]): T {
  const missing = methods.find((method) => typeof value?.[method] !== 'function');
  if (missing === undefined) return value;
  throw new OptionInvalidError(option, `it has no method \`${missing}\``);
}

function listOf<T>(option: string, value: readonly T[] | undefined): readonly T[] {
  if (value === undefined || Array.isArray(value)) return value ?? [];
  return refuse(option, value, 'give an array');
}

/** Checks the options of a session. Returns where it is to live. */
export function resolveSessionStore(options: SessionOptions, store: SessionStore): SessionStore {
  validateNames(options, ['id', 'store']);
  const { id = 'default' } = options;
  if (typeof id !== 'string' || id === '') refuse('id', id, 'give a text');
  return resolveStore(options.store ?? store);
}

function resolveStore(store: SessionStore): SessionStore {
  return withMethods('store', store, ['load', 'save', 'delete']);
}

function resolveModel(model: Model): Model {
  if (typeof model?.generate !== 'function' || typeof model.id !== 'string') {
    refuse('model', model, 'give an object with an `id` and a `generate` method');
  }
  return model;
}

function resolveTurnLimit(maxTurns: number | TurnLimit): Pick<RunConfig, 'maxTurns' | 'atLimit'> {
  const { limit, atLimit = 'throw' } = isObject(maxTurns) ? (maxTurns as TurnLimit) : { limit: maxTurns as number };
  if (!Number.isInteger(limit) || limit < 1) {
    refuse('maxTurns', limit, 'a run needs a whole number of turns, 1 or more');
  }
  if (atLimit !== 'throw' && atLimit !== 'answer') {
    refuse('maxTurns.atLimit', atLimit, "give 'throw' or 'answer'");
  }
  return { maxTurns: limit, atLimit };
}

function resolveParallel(parallel: boolean | number): number {
  if (typeof parallel === 'boolean') return parallel ? Number.POSITIVE_INFINITY : 1;
  if (Number.isInteger(parallel) && parallel >= 1) return parallel;
  return refuse('parallelToolCalls', parallel, 'give a boolean or a whole number');
}

function resolveSettings(
  settings: AgentSettings | undefined,
  base?: AgentSettings,
): Pick<RunConfig, 'settings' | 'toolChoice'> {
  if (settings === undefined) return { settings: undefined, toolChoice: undefined };
  validateNames(settings, SETTINGS, 'settings');
  const { toolChoice, ...rest } = { ...base, ...settings };
  return { settings: Object.keys(rest).length === 0 ? undefined : (rest satisfies ModelSettings), toolChoice };
}

function resolveTimeouts(timeouts: Timeouts, base?: Timeouts): Timeouts {
  validateNames(timeouts, TIMEOUTS, 'timeouts');
  for (const [key, ms] of Object.entries(timeouts) as [string, unknown][]) {
    if (ms !== undefined && !isTimerMs(ms))
      refuse(`timeouts.${key}`, ms, `give milliseconds from 1 to ${MAX_TIMER_MS}`);
  }
  return { ...base, ...timeouts };
}
