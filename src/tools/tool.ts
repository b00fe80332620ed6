import type { JsonValue } from '../internal/json.js';
import type { Logger } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import type { ContentPart, Message } from '../model/message.js';
import type { ToolSpec } from '../model/model.js';
import type { StandardResult } from './standard-schema.js';

/** What a tool says of its own effects. Hints for lifecycles that ask before a call: nothing here is enforced. */
export interface ToolAnnotations {
  readonly title?: string | undefined;
  readonly readOnly?: boolean | undefined;
  readonly destructive?: boolean | undefined;
  readonly idempotent?: boolean | undefined;
  readonly openWorld?: boolean | undefined;
}

/**
 * Something that a model can call. `defineTool` makes one; a loader may make its own. A tool that reads the run's
 * `context` is a `Tool<Context>`, and only an agent of that context takes it.
 */
export interface Tool<Context = unknown> extends ToolSpec {
  /** Checks the arguments. Its `value` is what `execute` gets. */
  check(input: unknown): StandardResult<unknown> | Promise<StandardResult<unknown>>;
  /** Does the work. A throw becomes an error result for the model. */
  readonly execute: (input: unknown, context: ToolContext<Context>) => Awaitable<unknown>;
  /** Time for one call, in milliseconds. Default: the agent's `timeouts.toolMs`. */
  readonly timeoutMs?: number | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** Where the tool comes from, such as the name of a server. `status()` shows it. */
  readonly origin?: string | undefined;
  /** What the loader that made it knows of it. The model does not see it. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}

/** What the model gets of a call. */
export interface ToolResult {
  readonly content: string | readonly ContentPart[];
  /** The same result as data. */
  readonly structured?: JsonValue | undefined;
  readonly isError?: boolean | undefined;
}

/** What `execute` may return: text, parts, data that JSON can hold, or a whole result made by `toolResult`. */
export type ToolOutput = string | readonly ContentPart[] | ToolResult | JsonData;

/**
 * Data that JSON can hold: numbers, booleans, `null`, arrays and objects. An interface without an index signature counts
 * as an object. Promises, functions, and collections such as `Map` and `Set` do not: JSON holds nothing of them.
 */
export type JsonData = number | boolean | null | readonly unknown[] | PlainObject;

/** An object that is not an array, a function, a promise or a collection. */
export type PlainObject = object & {
  readonly then?: never;
  readonly [Symbol.iterator]?: never;
  readonly [Symbol.hasInstance]?: never;
};

/** A session as hooks and tools see it. */
export interface SessionInfo {
  readonly id: string;
  /** All messages of the session. Instructions are never among them. */
  readonly messages: readonly Message[];
}

/** The run ends with a RejectedError; no later hook of the point and no tool runs. */
export interface RejectAction {
  readonly type: 'reject';
  readonly reason: string;
  /** Names who decided when that is more exact than the lifecycle's name. */
  readonly by?: string | undefined;
}

/** The run completes with this text; `afterAgent` still runs. */
export interface RespondAction {
  readonly type: 'respond';
  readonly text: string;
  /** Names who decided when that is more exact than the lifecycle's name. */
  readonly by?: string | undefined;
}

/** A run as its tools see it. Pass it as `parent` to a run inside the tool. Hooks see more of it: {@link RunContext}. */
export interface ToolRun<Context = unknown> {
  /** Made when it is first read. */
  readonly id: string;
  /** The agent's name. */
  readonly agent: string;
  /** Model calls begun, 1 in the first turn; 0 before it. */
  readonly turn: number;
  /** The `context` that the caller gave. */
  readonly context: Context;
  readonly session?: SessionInfo | undefined;
  /** The run that this one was started from. */
  readonly parent?: ToolRun | undefined;
  /**
   * Adds a user or system message, or an assistant message without calls. It joins after the results of this turn, and
   * before the first turn when called in `beforeAgent`; after a final answer it buys another turn, within `maxTurns`.
   * Throws RunEndedError once `afterAgent` has begun.
   */
  add(message: Message): void;
  /**
   * Ends the run early. The first call counts. The signals of the running calls are aborted, and each call gets an error
   * result, the one that called `end` too. The run ends at once when several calls are running or the run has a signal
   * or a time-out, otherwise once that call has settled.
   * Throws RunEndedError once `afterAgent` has begun.
   */
  end(action: RejectAction | RespondAction): void;
}

/** Given to `execute` with the arguments. */
export interface ToolContext<Context = unknown> {
  readonly callId: string;
  readonly toolName: string;
  /** The run's `context` value. */
  readonly context: Context;
  /** The run that the call is part of: pass it on as `parent` to a run inside the tool. */
  readonly run: ToolRun<Context>;
  /** Aborted with the run, with the call's time-out, and when the run ends early. Made when it is first read. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** Tells listeners how far the call is, as a `tool-delta` event. Ignored once the call has its result. */
  readonly progress: (data: unknown) => void;
}

/** Tools that come and go while the agent lives. Read once a turn; a turn that has begun keeps what it saw. */
export interface LiveToolSet<Context = unknown> {
  /** Changes whenever `list()` would return something else. */
  readonly revision: number;
  /** The tools as they are now. */
  readonly list: () => readonly Tool<Context>[];
}

/**
 * Tools for one run. The compiler checks their context less strictly than for the tools of an agent, and does not check
 * the context of a live set. Otherwise `Agent` would not be assignable to `Agent<Caller>`.
 */
export type RunToolSource<Context = unknown> = readonly RunTool<Context>[] | LiveToolSet<never>;

/** A tool as one run takes it. Every `Tool<Context>` is one. */
export interface RunTool<Context = unknown> extends Omit<Tool, 'execute'> {
  /** As in {@link Tool}. */
  execute(input: unknown, context: ToolContext<Context>): Awaitable<unknown>;
}

/** Tools as an array, or as a live set. */
export type ToolSource<Context = unknown> = readonly Tool<Context>[] | LiveToolSet<Context>;
