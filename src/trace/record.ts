import type { AgentEvent } from '../agent/agent-event.js';
import type { HookPoint } from '../lifecycle/decision.js';
import type { Message } from '../model/message.js';
import type { FinishReason, Usage } from '../model/model.js';
import type { EntryBody } from '../state/record/entry.js';

/** The members that every trace record has. */
interface Placed {
  /** The time of the record, or of the start of the recorded call, in milliseconds since the epoch. */
  readonly at: number;
  readonly runId: string;
  /** The ids of the tool calls that enclose a nested run, outermost first. Undefined for the outermost run. */
  readonly path?: readonly string[] | undefined;
}

/** The first record of each trace. */
interface TraceStart extends Placed {
  readonly type: 'trace';
  /** The version of the trace format. */
  readonly version: 1;
  readonly session?: string | undefined;
}

/** One call of a hook of a lifecycle. The record is written when the hook ends. */
export interface TracedHook extends Placed {
  readonly type: 'hook';
  readonly turn: number;
  readonly lifecycle: string;
  readonly point: HookPoint;
  /** The tool call that the hook wraps. */
  readonly call?: { readonly id: string; readonly name: string } | undefined;
  /** The time from the call of the hook to its end, in milliseconds. */
  readonly ms: number;
  /** `ms` without the time in which the hook waited for `next`, in milliseconds. */
  readonly ownMs: number;
}

/** One call of a model. A repeated attempt is a separate call. The record is written when the call ends. */
export interface TracedModelCall extends Placed {
  readonly type: 'model-call';
  readonly turn: number;
  /**
   * The number of the attempt in its turn, from 1. It is 0 for a call outside the turns, such as a call that writes a
   * summary.
   */
  readonly attempt: number;
  readonly model: string;
  readonly ms: number;
  /** The size of the request. */
  readonly context: TracedContext;
  /** Undefined if the call failed. */
  readonly usage?: Usage | undefined;
  /** The cost in US dollars. Undefined if the model has no price. */
  readonly cost?: number | undefined;
  readonly finishReason?: FinishReason | undefined;
  readonly error?: TracedError | undefined;
}

/** An entry that a run added to its stored session. Has no content, because other records contain the messages. */
interface TracedEntry extends Placed {
  readonly type: 'entry';
  readonly id: string;
  readonly parent?: string | undefined;
  /** Identifies who wrote the message or made the decision. */
  readonly by?: string | undefined;
  /** The type of the entry, such as `message` or `suspended`. */
  readonly body: EntryBody['type'];
  /** The role of a message. */
  readonly role?: Message['role'] | undefined;
}

/** The size of a model request, in characters of JSON. */
interface TracedContext {
  /**
   * The size of each source: `instructions`, `tools`, the role of a message (`user`, `assistant`), or `tool <name>` for
   * the results of a tool.
   */
  readonly sizes: Readonly<Record<string, number>>;
  /** The number of messages, including the instructions. */
  readonly messages: number;
}

/**
 * An error as plain data. Includes other members of the error that are strings, numbers or booleans, such as `code`.
 */
export interface TracedError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly cause?: TracedError | undefined;
  readonly [member: string]: unknown;
}

/** The result of a run, without its messages, because other records contain them. */
interface TracedResult {
  readonly status: 'completed' | 'suspended';
  readonly text: string;
  readonly turns: number;
  readonly usage: Usage;
  readonly finishReason: FinishReason;
  readonly pending: readonly unknown[];
}

/** An event of a run, with the time when it was emitted. Errors and the result are plain data. */
type TracedEvent = {
  [Type in WatchedEvent['type']]: Placed &
    Omit<Extract<WatchedEvent, { type: Type }>, 'error' | 'result'> &
    Plain<Type>;
}[WatchedEvent['type']];

/** The events in a trace. Stream deltas are left out, because `model-end` has the whole response. */
type WatchedEvent = Exclude<AgentEvent, { readonly type: `${string}-delta` }>;

type Plain<Type> = Type extends 'run-error' | 'model-error'
  ? { readonly error: TracedError }
  : Type extends 'tool-end'
    ? { readonly error?: TracedError | undefined; readonly result?: TracedToolResult | undefined }
    : Type extends 'run-end'
      ? { readonly result?: TracedResult | undefined }
      : unknown;

interface TracedToolResult {
  readonly content: unknown;
  readonly isError?: boolean | undefined;
}

/** One line of a trace. */
export type TraceRecord = TraceStart | TracedEvent | TracedHook | TracedModelCall | TracedEntry;

/** The type of the trace records whose `type` is `Type`. */
export type TraceRecordOf<Type extends TraceRecord['type']> = Extract<TraceRecord, { readonly type: Type }>;
