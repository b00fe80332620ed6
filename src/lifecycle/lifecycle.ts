import type { Logger } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import type { Message } from '../model/message.js';
import type { Model, ModelRequest, ModelResponse } from '../model/model.js';
import type { SessionInfo, Tool, ToolResult, ToolSource } from '../tools/tool.js';
import type { EntryAction, HookAction, SuspendAction } from './hook-action.js';
import type { RunContext } from './run-context.js';

/**
 * Everything that can take part in a run. A class, an object literal and `{}` all serve: every member is optional, and
 * what is absent costs nothing. One instance serves all runs of its agent at once, so keep what belongs to a run in a
 * `WeakMap` by its RunContext, not on `this`.
 *
 * Order: higher priority first, then registration. `wrap*` nest in that order, the first outermost. A hook may be
 * synchronous or return a promise. A throw ends the run with a LifecycleError, unless `onFailure` says otherwise.
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
  /** Shown in errors, events and the record of decisions. Default: the class's name and a number. */
  readonly name?: string | undefined;
  /** 0–100, default 50. Higher runs first, and wraps outermost. */
  readonly priority?: number | undefined;
  /**
   * What a throw or a time-out of this part does. `throw` (default): the run ends with a LifecycleError. `continue`: it
   * is logged and the value from before it is kept. `block`: as a reject; at `wrapToolCall`, an error result.
   */
  readonly onFailure?: 'throw' | 'continue' | 'block' | undefined;
  /** Time for each asynchronous hook call, in milliseconds. The clock stops while `next` is running. */
  readonly timeoutMs?: number | undefined;
  /** Text reaches a stream's consumer only after `afterModel`: for parts that rewrite what is shown. */
  readonly holdStream?: boolean | undefined;
  /** Tools that this part brings along. */
  readonly tools?: ToolSource<Context> | undefined;

  /** Once, before the agent's first run. */
  readonly onInit?: ((host: LifecycleHost) => Awaitable<void>) | undefined;
  /** When a session is opened, before its first run. */
  readonly onSessionStart?: ((session: SessionInfo) => Awaitable<void>) | undefined;
  /** Once a run, first of all. Returns the input to go on with, an action, or nothing. */
  readonly beforeAgent?:
    | ((input: string, run: RunContext<Context>) => Awaitable<string | EntryAction | void>)
    | undefined;
  /** Before every model call. The list it returns replaces the run's working messages from then on. */
  readonly beforeModel?:
    | ((messages: readonly Message[], run: RunContext<Context>) => Awaitable<readonly Message[] | EntryAction | void>)
    | undefined;
  /** After `beforeModel`: the tools that this turn offers. What is left out cannot be called in this turn. */
  readonly beforeToolSelection?:
    | ((tools: readonly Tool[], run: RunContext<Context>) => Awaitable<readonly Tool[] | EntryAction | void>)
    | undefined;
  /** Around the model call. What is passed to `next` holds for that call alone. `next` may be called 0…n times. */
  readonly wrapModelCall?:
    | ((request: ModelCallRequest<Context>, next: ModelCall) => Awaitable<ModelResponse>)
    | undefined;
  /** After every model call, before its tool calls. */
  readonly afterModel?:
    | ((response: ModelResponse, run: RunContext<Context>) => Awaitable<HookAction | void>)
    | undefined;
  /** Around each tool call. Arguments are checked inside `next`, so a rewrite is checked too. */
  readonly wrapToolCall?:
    | ((call: ToolCallRequest<Context>, next: ToolInvoke) => Awaitable<ToolResult | SuspendAction>)
    | undefined;
  /** Once a run, with the text it ends with; returns the text for the caller. The messages stay as they are. */
  readonly afterAgent?: ((result: string, run: RunContext<Context>) => Awaitable<string | void>) | undefined;
  /** In place of `afterAgent` where the run failed: each part that entered gets exactly one of the two. 5 s at most. */
  readonly onError?: ((error: unknown, run: RunContext<Context>) => Awaitable<void>) | undefined;
  /** When a session is closed, with all its messages. */
  readonly onSessionEnd?: ((session: SessionInfo) => Awaitable<void>) | undefined;
  /** When the agent is closed, in reverse order. 5 s at most, or `timeoutMs`. */
  readonly onShutdown?: (() => Awaitable<void>) | undefined;
}

/** One model call on its way inwards. Plain data: change it by spreading it. */
export interface ModelCallRequest<Context = unknown> extends ModelRequest {
  readonly model: Model;
  readonly run: RunContext<Context>;
}

/** The rest of the chain around a model call. Without an argument it takes the request that the hook was given. */
export type ModelCall = (request?: ModelCallRequest) => Promise<ModelResponse>;

/** One tool call on its way inwards. Plain data: change it by spreading it. */
export interface ToolCallRequest<Context = unknown> {
  readonly id: string;
  readonly name: string;
  /** The arguments as the model gave them, unchecked. */
  readonly input: unknown;
  /** Merged into the arguments after the check, where the tool's schema permits further properties. */
  readonly additions?: Readonly<Record<string, unknown>> | undefined;
  /** The raw text of arguments that were no JSON. A rewrite that sets `input` drops it. */
  readonly invalidInput?: string | undefined;
  /** The tool of this turn with that name; absent where there is none. */
  readonly tool?: Tool | undefined;
  /** The call was suspended before, and approved as the run was resumed. */
  readonly approved?: boolean | undefined;
  readonly run: RunContext<Context>;
  /** For this call alone, beside the run's own. */
  readonly signal?: AbortSignal | undefined;
}

/** The rest of the chain around a tool call. Without an argument it takes the call that the hook was given. */
export type ToolInvoke = (call?: ToolCallRequest) => Promise<ToolResult>;

/** What `onInit` is given. */
export interface LifecycleHost {
  /** The agent's name. */
  readonly agent: string;
  /** The tools of the agent as they are now. */
  tools(): readonly Tool[];
  /** Calls the agent's model outside any run; no hook sees it. */
  generate(request: ModelRequest): Promise<ModelResponse>;
  readonly logger: Logger;
  /** Aborted when the agent is closed. */
  readonly signal: AbortSignal;
}

/** What a loader is given. */
export interface LoaderHost extends LifecycleHost {
  /**
   * Adds a lifecycle from the next run on. The function that it returns removes it again. Given as `replaced`, such a
   * function gives the place in the order: the new one takes it, while runs that are going on keep the old one.
   */
  use(lifecycle: AgentLifecycle<never>, replaced?: () => void): () => void;
  /** Closes the agent, as its own `close` does: for a loader that knows when the process ends. */
  closeAgent(): Promise<void>;
}

/** Turns something outside (a folder, a config file, a server, a command) into lifecycles. */
export interface LifecycleLoader {
  readonly name: string;
  /** A failure is logged and shown in `status()`, and does not stop the agent. */
  readonly optional?: boolean | undefined;
  /** Called once, before the first run; loaders load in the order of their array. */
  load(host: LoaderHost): Awaitable<void>;
  /** Called when the agent is closed. */
  close?(): Awaitable<void>;
  /** Shown in the agent's `status()`. */
  status?(): unknown;
}
