import type { Logger } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import type { Message } from '../model/message.js';
import type { Model, ModelPart, ModelRequest, ModelResponse } from '../model/model.js';
import type { SessionInfo, Tool, ToolResult, ToolSource } from '../tools/tool.js';
import type { EntryAction, HookAction, SuspendAction } from './hook-action.js';
import type { RunContext } from './run-context.js';

/**
 * A set of optional hooks that observe or change runs: an object literal or a class instance. One lifecycle serves all
 * concurrent runs of its agent. Keep the state of a run in a `WeakMap` keyed by its RunContext, not on `this`.
 *
 * Order: higher priority first, then registration order. `wrap*` hooks nest in that order, the first outermost. A hook
 * may be synchronous or return a promise. If a hook throws, the run ends with a LifecycleError, unless `onFailure` is
 * set.
 *
 * @example
 * const audit: AgentLifecycle = {
 *   name: 'audit',
 *   async wrapToolCall(call, next) {
 *     const result = await next(call);
 *     console.log(call.name, call.input, result.content);
 *     return result;
 *   },
 * };
 */
export interface AgentLifecycle<Context = unknown> {
  /** Shown in errors, events and decisions. Default: the class name and a number, such as `Audit#1`. */
  readonly name?: string | undefined;
  /** A number from 0 to 100. Default: 50. A higher priority runs first and wraps outermost. */
  readonly priority?: number | undefined;
  /**
   * If a hook throws or times out, `throw` (default) ends the run with a LifecycleError. `continue` logs the error and
   * keeps the previous value. `block` rejects the run, or gives the call of `wrapToolCall` an error result.
   *
   * The type is string, because TypeScript widens a class field such as `onFailure = 'block'` to string. An invalid
   * value is refused when the lifecycle is registered.
   */
  readonly onFailure?: 'throw' | 'continue' | 'block' | (string & Record<never, never>) | undefined;
  /** Time limit of each asynchronous hook call, in milliseconds. Time inside `next` does not count. */
  readonly timeoutMs?: number | undefined;
  /**
   * Delays streamed text until `afterModel` has run. Set it if the lifecycle rewrites the text.
   *
   * A function is called for each model call. It returns a function that gets each part of the response, and returns the
   * part to stream now, if any. Without such a function, the text of that call is not delayed.
   */
  readonly holdStream?: boolean | ((run: RunContext<Context>) => StreamGate | undefined) | undefined;
  /** Tools that the lifecycle adds to its agent. */
  readonly tools?: ToolSource<Context> | undefined;

  /** Called once, before the agent's first run. Time limit: `timeoutMs`, or 30 s. */
  readonly onInit?: ((host: LifecycleHost) => Awaitable<void>) | undefined;
  /** Called when a session is opened, before its first run. Time limit: `timeoutMs`, or 30 s. */
  readonly onSessionStart?: ((session: SessionInfo) => Awaitable<void>) | undefined;
  /**
   * Called once, at the start of a run. Returns the new input, an action, or nothing.
   *
   * A run without an input, such as a resumed run, passes an empty string and ignores a returned string.
   */
  readonly beforeAgent?:
    | ((input: string, run: RunContext<Context>) => Awaitable<string | EntryAction | void>)
    | undefined;
  /**
   * Called before every model call. A returned array replaces the messages that the model reads, for the rest of the
   * run.
   */
  readonly beforeModel?:
    | ((messages: Message[], run: RunContext<Context>) => Awaitable<readonly Message[] | EntryAction | void>)
    | undefined;
  /** Called after `beforeModel`. Returns the tools of this turn. The model can call only these tools. */
  readonly beforeToolSelection?:
    | ((tools: readonly Tool[], run: RunContext<Context>) => Awaitable<readonly Tool[] | EntryAction | void>)
    | undefined;
  /** Wraps the model call. A changed request applies to that call only. `next` may be called any number of times. */
  readonly wrapModelCall?:
    | ((request: ModelCallRequest<Context>, next: ModelCallNext) => Awaitable<ModelResponse>)
    | undefined;
  /** Called after every model call, before the tool calls of the response. */
  readonly afterModel?:
    | ((response: ModelResponse, run: RunContext<Context>) => Awaitable<HookAction | void>)
    | undefined;
  /** Wraps each tool call. `next` checks the arguments, even if the hook changed them. */
  readonly wrapToolCall?:
    | ((call: ToolCallRequest<Context>, next: ToolCallNext) => Awaitable<ToolResult | SuspendAction>)
    | undefined;
  /**
   * Called once, at the end of a run, with the text of the run. Returns the text for the caller; the messages do not
   * change.
   */
  readonly afterAgent?: ((result: string, run: RunContext<Context>) => Awaitable<string | void>) | undefined;
  /**
   * Called instead of `afterAgent` if the run fails. If `beforeAgent` of this lifecycle is still running, called after
   * it has returned. Time limit: 5 s.
   */
  readonly onError?: ((error: unknown, run: RunContext<Context>) => Awaitable<void>) | undefined;
  /** Called when a session is closed, with all its messages. */
  readonly onSessionEnd?: ((session: SessionInfo) => Awaitable<void>) | undefined;
  /** Called when the agent is closed, in reverse order. Time limit: `timeoutMs`, or 5 s. */
  readonly onShutdown?: (() => Awaitable<void>) | undefined;
}

/**
 * Receives each streamed part. Returns the part to emit now, with all or some of its text. The remaining text follows
 * after `afterModel`.
 */
export type StreamGate = (part: ModelPart) => ModelPart | undefined;

/** The request of one model call, for `wrapModelCall`. To change the request, pass a changed copy to `next`. */
export interface ModelCallRequest<Context = unknown> extends ModelRequest {
  readonly model: Model;
  readonly run: RunContext<Context>;
}

/** Runs the inner hooks and the model call. Without an argument, uses the request that the hook received. */
export type ModelCallNext = (request?: ModelCallRequest) => Promise<ModelResponse>;

/** One tool call, for `wrapToolCall`. To change the call, pass a changed copy to `next`. */
export interface ToolCallRequest<Context = unknown> {
  readonly id: string;
  readonly name: string;
  /** The arguments from the model, before the check against the schema. */
  readonly input: unknown;
  /** Arguments to add after the check, if the tool's schema allows additional properties. */
  readonly additions?: Readonly<Record<string, unknown>> | undefined;
  /** The raw string, if the arguments are not JSON. If a hook sets `input`, the raw string is dropped. */
  readonly invalidInput?: string | undefined;
  /** The tool with that name in this turn. Absent if the name is unknown. */
  readonly tool?: Tool | undefined;
  /** True if `resume` approved the call. Undefined after an outer hook has changed the name or the arguments. */
  readonly approved?: boolean | undefined;
  /** True if the provider executes the call after an approval. `next` suspends the call unless `approved` is true. */
  readonly needsApproval?: boolean | undefined;
  readonly run: RunContext<Context>;
  /** Aborts this call only. Does not replace the signal of the run. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs the inner hooks and the tool call. Without an argument, uses the call that the hook received. */
export type ToolCallNext = (call?: ToolCallRequest) => Promise<ToolResult>;

/** The argument of `onInit`. */
export interface LifecycleHost {
  /** The agent's name. */
  readonly agent: string;
  /** Returns the current tools of the agent. */
  tools(): readonly Tool[];
  /**
   * Returns the beginnings of tool names that may be added later, such as `mcp__files__` for the MCP server `files`.
   */
  toolPrefixes(): readonly string[];
  /** Calls the agent's model outside any run, without hooks. */
  generate(request: ModelRequest): Promise<ModelResponse>;
  readonly logger: Logger;
  /** Aborted when the agent is closed. */
  readonly signal: AbortSignal;
}

/** The argument of `LifecycleLoader.load`. */
export interface LoaderHost extends LifecycleHost {
  /**
   * Adds a lifecycle to all later runs. Returns a function that removes the lifecycle.
   *
   * Pass such a function as `replaced` to put the new lifecycle in the position of the old one. Active runs keep the
   * old lifecycle.
   */
  use(lifecycle: AgentLifecycle<never>, replaced?: () => void): () => void;
  /** Closes the agent like `agent.close()`, for example when a loader learns that the process is about to end. */
  closeAgent(): Promise<void>;
}

/** Loads lifecycles from outside the program, such as from a directory, a config file, a server or a command. */
export interface LifecycleLoader {
  readonly name: string;
  /** If true, a failure of `load` is logged and shown in `status()`, and the agent still starts. */
  readonly optional?: boolean | undefined;
  /** Called once, before the first run, in the order of `AgentOptions.loaders`. */
  load(host: LoaderHost): Awaitable<void>;
  /** Called when the agent is closed. */
  close?(): Awaitable<void>;
  /** Returns the `details` that the agent's `status()` shows. */
  status?(): unknown;
}
