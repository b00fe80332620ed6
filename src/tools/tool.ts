import type { JsonValue } from '../internal/json.js';
import type { Logger } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import type { ContentPart, Message } from '../model/message.js';
import type { ToolSpec } from '../model/model.js';
import type { StandardResult } from './standard-schema.js';

/** Hints about the effects of a tool, for lifecycles such as `approval`. Keelson itself does not enforce them. */
export interface ToolAnnotations {
  readonly title?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
  readonly idempotent?: boolean | undefined;
  readonly openWorld?: boolean | undefined;
}

/**
 * A function that a model can call. Made by `defineTool` or by a loader. A tool that reads the run's `context` is a
 * `Tool<Context>`, and only an agent with that context type accepts it. `Input` is the type of the checked arguments:
 * {@link ToolInput} reads it.
 */
export interface Tool<Context = unknown, Input = unknown> extends ToolSpec {
  /** Checks the arguments. The resulting `value` is passed to `execute`. */
  check(input: unknown): StandardResult<Input> | Promise<StandardResult<Input>>;
  /**
   * Runs the tool. A throw becomes an error result for the model. Without this function, the caller of the agent runs the
   * tool: a call is suspended until `resume` has its `{ result }`.
   */
  readonly execute?: ((input: unknown, context: ToolContext<Context>) => Awaitable<unknown>) | undefined;
  /** Time limit of one call, in milliseconds. Default: the agent's `timeouts.toolMs`. */
  readonly timeoutMs?: number | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** The source of the tool, such as the name of a server. Shown by `agent.status()`. */
  readonly origin?: string | undefined;
  /** Data that a loader attaches to the tool. Not sent to the model. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The type of a tool's checked arguments, such as `ToolInput<typeof weather>`. */
export type ToolInput<T extends Pick<Tool, 'check'>> =
  Awaited<ReturnType<T['check']>> extends StandardResult<infer Input> ? Input : never;

/** The result of a tool call, as the model gets it. */
export interface ToolResult {
  readonly content: string | readonly ContentPart[];
  /** The same result as data. */
  readonly structured?: JsonValue | undefined;
  readonly isError?: boolean | undefined;
}

/**
 * The return value of `execute`: a string, content parts, data that JSON can hold, or a result made by `toolResult`. If
 * it returns nothing, the model reads `Done.`
 */
export type ToolOutput = string | readonly ContentPart[] | ToolResult | JsonData | void;

/**
 * Data that JSON can hold: numbers, booleans, `null`, arrays and objects. An interface without an index signature
 * counts as an object. Promises, functions, and collections such as `Map` and `Set` do not count: their JSON is empty.
 */
type JsonData = number | boolean | null | readonly unknown[] | PlainObject;

/** An object that is not an array, a function, a promise or a collection. */
export type PlainObject = object & {
  readonly then?: never;
  readonly [Symbol.iterator]?: never;
  readonly [Symbol.hasInstance]?: never;
};

/** A session, as hooks and tools see it. */
export interface SessionInfo {
  readonly id: string;
  /** The messages of the conversation as people read them, as far as they are loaded, without the instructions. */
  readonly messages: readonly Message[];
  /** Loads the earlier part of a compacted conversation, and returns all messages. */
  allMessages(): Promise<readonly Message[]>;
}

/** Ends the run with a RejectedError. Later hooks of the same hook point, and the tools, do not run. */
export interface RejectAction {
  readonly type: 'reject';
  readonly reason: string;
  /** The name to record in the decision instead of the lifecycle's name. */
  readonly by?: string | undefined;
}

/** Ends the run with this text as its answer. `afterAgent` still runs. */
export interface RespondAction {
  readonly type: 'respond';
  readonly text: string;
  /** The name to record in the decision instead of the lifecycle's name. */
  readonly by?: string | undefined;
}

/** A run, as its tools see it. Pass it as `parent` to a run inside the tool. Hooks get a {@link RunContext} instead. */
export interface ToolRun<Context = unknown> {
  /** Created on first access. The id of a nested run derives from the `idempotencyKey` of the call. */
  readonly id: string;
  /** The ids of the tool calls that lead to this run, from the outermost. Undefined for an outermost run. */
  readonly path?: readonly string[] | undefined;
  /** The agent's name. */
  readonly agent: string;
  /** 1, unless the run resumes tool calls that an earlier process had begun. Then the highest attempt of these calls. */
  readonly attempt: number;
  /**
   * The same for each attempt on the same suspended calls of a session. Equal for all calls of a run: for one call, use
   * `idempotencyKey` of the {@link ToolContext}.
   */
  readonly idempotencyKey: string;
  /** The number of the current turn: 1 in the first turn, 0 before the first turn. */
  readonly turn: number;
  /** The `context` option of the run. */
  readonly context: Context;
  readonly session?: SessionInfo | undefined;
  /** The run that started this run. */
  readonly parent?: ToolRun | undefined;
  /**
   * Adds a user or system message, or an assistant message without tool calls. The message joins after the tool results
   * of this turn; a message added in `beforeAgent` joins before the first turn. A message added after a final answer
   * starts another turn, within `maxTurns`. Throws RunEndedError once `afterAgent` has begun.
   */
  add(message: Message): void;
  /**
   * Ends the run early; only the first call has an effect. Aborts the running tool calls; each of them gets an error
   * result, also the call that called `end`. If several calls are running, or if the run has a signal or a time limit,
   * the run ends at once. Otherwise the run ends when the tool call has settled. Throws RunEndedError once `afterAgent`
   * has begun.
   */
  end(action: RejectAction | RespondAction): void;
  /**
   * Lets a work continue after the tool call. Resolves with a string for the tool to return. A message tells the model the value
   * of the work, or its failure. It joins the active run of the session, or starts a run with the options of this run. Closing
   * the session stops the work; `session.stop()` does not. Rejects with a BackgroundUnavailableError without a session
   * and in a durable run, and with a RunEndedError once `afterAgent` has begun.
   *
   * @example
   * const build = async (signal: AbortSignal) => (await fetch('https://ci.example/build', { signal })).text();
   * const buildTool = defineTool({
   *   name: 'build',
   *   description: 'Builds the site.',
   *   input: z.object({}),
   *   execute: (_, { run }) => run.background((signal) => build(signal), { label: 'build' }),
   * });
   */
  background(work: BackgroundWork, options: BackgroundOptions): Promise<string>;
}

/**
 * A work for the background: a promise, or a function that returns one. The signal of the function is aborted when the work is
 * stopped. The value is a string, content parts, or data that JSON can hold.
 */
export type BackgroundWork = PromiseLike<unknown> | ((signal: AbortSignal) => Awaitable<unknown>);

/**
 * Options of `run.background`.
 *
 * @example
 * const report = (run: ToolRun) => run.background(Promise.resolve('3 pages'), { label: 'report' });
 */
export interface BackgroundOptions {
  /** Names the work for the model and for `agent.status()`. */
  readonly label: string;
}

/** The second argument of `execute`. */
export interface ToolContext<Context = unknown> {
  readonly callId: string;
  readonly toolName: string;
  /**
   * The number of times that this call has begun, this time included: more than 1 if an earlier process died during the
   * call, so that it may have happened.
   */
  readonly attempt: number;
  /** The same for each attempt on this call of a session, and different for each call. Pass it to a payment service. */
  readonly idempotencyKey: string;
  /** The `context` option of the run. */
  readonly context: Context;
  /**
   * The run that the call is part of. Pass it as `parent` to a run inside the tool, which is then inside this call. Each
   * call has an object of its own, other than the RunContext of the hooks: compare runs by `id`.
   */
  readonly run: ToolRun<Context>;
  /** Aborted when the run is aborted or ends early, or when the call times out. Created on first access. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Emits a `tool-delta` event with this data. Ignored once the call has its result. */
  readonly progress: (data: unknown) => void;
}

/** A set of tools that may change while the agent is in use. Read once per turn. */
export interface LiveToolSet<Context = unknown> {
  /** Must change whenever the result of `list()` changes. */
  readonly revision: number;
  /** Returns the current tools. */
  readonly list: () => readonly Tool<Context>[];
  /** Returns the beginnings of the names of tools that the set may add later, such as `mcp__files__`. Default: none. */
  readonly prefixes?: (() => readonly string[]) | undefined;
}

/**
 * Tools for one run. The compiler checks their context type less strictly than that of an agent's tools, and not at all
 * for a live set. A strict check would make `Agent` not assignable to `Agent<Caller>`.
 */
export type RunToolSource<Context = unknown> = readonly RunTool<Context>[] | LiveToolSet<never>;

/** A tool in the `tools` option of a run. Every `Tool<Context>` is assignable to it. */
interface RunTool<Context = unknown> extends Omit<Tool, 'execute'> {
  /** As {@link Tool}.execute. The type of a method, whose parameters the compiler checks less strictly. */
  readonly execute?: { call(input: unknown, context: ToolContext<Context>): Awaitable<unknown> }['call'] | undefined;
}

/** An array of tools, or a live tool set. */
export type ToolSource<Context = unknown> = readonly Tool<Context>[] | LiveToolSet<Context>;
