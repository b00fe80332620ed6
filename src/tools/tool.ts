import type { JsonValue } from '../internal/json.js';
import type { Logger } from '../internal/logger.js';
import type { Awaitable } from '../internal/promise.js';
import type { ContentPart } from '../model/message.js';
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

/** Something that a model can call. `defineTool` makes one; a loader may make its own. */
export interface Tool extends ToolSpec {
  /** Checks the arguments. What it gives as `value` is what `execute` gets. */
  check(input: unknown): StandardResult<unknown> | Promise<StandardResult<unknown>>;
  /** Does the work. A throw becomes an error result for the model. */
  execute(input: unknown, context: ToolContext): Awaitable<unknown>;
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

/** Data that JSON can hold. An interface without an index signature counts as data too, a promise does not. */
export type JsonData = number | boolean | null | (object & { readonly then?: never });

/** What a running tool knows of the run that it is part of. */
export interface ToolRun<Context = unknown> {
  readonly id: string;
  readonly agent: string;
  readonly turn: number;
  readonly context: Context;
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
export interface LiveToolSet {
  /** Changes whenever `list()` would give something else. */
  readonly revision: number;
  /** The tools as they are now. */
  list(): readonly Tool[];
}

/** Where tools come from: an array, or a live set. */
export type ToolSource = readonly Tool[] | LiveToolSet;
