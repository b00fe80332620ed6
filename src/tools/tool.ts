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
 * A function that a model can call, made by `defineTool` or by a loader. A tool that reads the run's `context` is a
 * `Tool<Context>`, and only an agent with that context type accepts it.
 *
 * `Input` is the type of the checked arguments: {@link ToolInput} reads it.
 */
export interface Tool<Context = unknown, Input = unknown> extends ToolSpec {
  /** Checks the arguments. The `value` of the result is passed to `execute`. */
  check(input: unknown): StandardResult<Input> | Promise<StandardResult<Input>>;
  /**
   * Runs the tool. If it throws, the model reads an error result.
   *
   * Without this function, the caller of the agent runs the tool: a call is suspended until `resume` has its `{ result
   * }`.
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
  /** The result as data, for programs. The model reads `content`. */
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
 * counts as an object.
 *
 * Promises, functions, and collections such as `Map` and `Set` do not count, because their JSON is empty.
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
  /** The loaded messages of the conversation as people read them: without summaries and without the instructions. */
  readonly messages: readonly Message[];
  /** Loads the earlier part of a compacted conversation, and returns all messages. */
  allMessages(): Promise<readonly Message[]>;
}

/** Ends the run with a RejectedError. Skips the later hooks of the same hook point, and the tools. */
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

/** A run, as its tools see it. Pass it as `parent` to a nested run. Hooks receive a {@link RunContext} instead. */
export interface ToolRun<Context = unknown> {
  /**
   * The id of the run, created on first access. A nested run that a tool starts has an id made from the
   * `idempotencyKey` of the call.
   */
  readonly id: string;
  /** The ids of the enclosing tool calls, outermost first. Undefined for an outermost run. */
  readonly path?: readonly string[] | undefined;
  /** The agent's name. */
  readonly agent: string;
  /**
   * The number of the attempt: 1, unless the run resumes tool calls that an earlier process has started. Then the
   * highest attempt of these calls.
   */
  readonly attempt: number;
  /**
   * A key that is the same in each attempt to resume the same calls of a session. All calls of a run share it. A key
   * for a single call is `idempotencyKey` of the {@link ToolContext}.
   */
  readonly idempotencyKey: string;
  /** The number of the current turn: 1 in the first turn, 0 before the first turn. */
  readonly turn: number;
  /** The `context` option of the run. */
  readonly context: Context;
  readonly session?: SessionInfo | undefined;
  /** The enclosing run, if there is one. */
  readonly parent?: ToolRun | undefined;
  /**
   * Adds a user or system message, or an assistant message without tool calls. The message joins after the tool results
   * of this turn. A message from `beforeAgent` joins before the first turn.
   *
   * A message added after a final answer starts another turn, within `maxTurns`. Throws RunEndedError once `afterAgent`
   * has begun.
   */
  add(message: Message): void;
  /**
   * Ends the run early; later calls have no effect. Aborts the running tool calls, which get error results, including
   * the call that called `end`.
   *
   * If several calls are running, or if the run has a signal or a time limit, the run ends at once. Otherwise the run
   * ends when the tool call has settled. Throws RunEndedError once `afterAgent` has begun.
   */
  end(action: RejectAction | RespondAction): void;
  /**
   * Lets a work continue after the tool call. Resolves with a string that the tool should return to the model.
   *
   * When the work ends, a message tells the model its value or its failure. The message joins the active run of the
   * session, or starts a run with the options of this run. Closing the session stops the work; `session.stop()` does
   * not.
   *
   * Rejects with a BackgroundUnavailableError without a session and in a durable run, and with a RunEndedError once
   * `afterAgent` has begun.
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
 * A background work: a promise, or a function that returns a promise. The signal of the function is aborted when the
 * work is stopped.
 *
 * The promise must resolve with a string, content parts, or data that JSON can hold.
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
   * How often this call has started, including this time. More than 1 if an earlier process died during the call, so
   * that the call may already have had an effect.
   */
  readonly attempt: number;
  /**
   * A key that is the same in each attempt of this call, and different for each call. Pass it to services that must act
   * only once, such as payments.
   */
  readonly idempotencyKey: string;
  /** The `context` option of the run. */
  readonly context: Context;
  /**
   * The run of this call. Pass it as `parent` to a nested run, so that the nested run belongs to this call.
   *
   * Each call has its own object, which is not the RunContext of the hooks. To compare runs, compare their `id`.
   */
  readonly run: ToolRun<Context>;
  /**
   * Aborted when the run is aborted or ends early, or when the call times out or is cancelled. Created on first access.
   */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Emits a `tool-delta` event with this data. Has no effect after the call has its result. */
  readonly progress: (data: unknown) => void;
}

/** A set of tools that may change while the agent is in use. The agent reads it once per turn. */
export interface LiveToolSet<Context = unknown> {
  /**
   * A number that must change whenever the result of `list()` changes. The agent reads the tools again only after a
   * change.
   */
  readonly revision: number;
  /** Returns the current tools. */
  readonly list: () => readonly Tool<Context>[];
  /**
   * Returns the beginnings of tool names that the set may add later, such as `mcp__files__`. A configured tool name
   * with such a beginning is not reported as unknown. Default: none.
   */
  readonly prefixes?: (() => readonly string[]) | undefined;
}

/**
 * Tools for one run. The compiler checks their context type less strictly than for the tools of an agent, and not at
 * all for a live set.
 *
 * A strict check would make `Agent` not assignable to `Agent<Caller>`.
 */
export type RunToolSource<Context = unknown> = readonly RunTool<Context>[] | LiveToolSet<never>;

/** A tool in the `tools` option of a run. Every `Tool<Context>` is assignable to it. */
interface RunTool<Context = unknown> extends Omit<Tool, 'execute'> {
  /**
   * The same function as {@link Tool}.execute, declared as a method, because the compiler checks the parameters of
   * methods less strictly.
   */
  readonly execute?: { call(input: unknown, context: ToolContext<Context>): Awaitable<unknown> }['call'] | undefined;
}

/** An array of tools, or a live tool set. */
export type ToolSource<Context = unknown> = readonly Tool<Context>[] | LiveToolSet<Context>;
