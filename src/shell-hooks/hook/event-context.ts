import type { Message } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { HookDialect, HookEvent } from '../../programs/hook-event.js';
import type { ToolResult } from '../../tools/tool.js';
import type { HookEffects } from './effects.js';

/** The conversation for a transcript. */
export interface TranscriptMessages {
  /** The messages that the model reads, with the latest response. Undefined at an event without a run. */
  readonly model?: readonly Message[] | undefined;
  /** Loads all messages of the session as people read them. Undefined for a run without a session. */
  readonly people?: (() => Promise<readonly Message[]>) | undefined;
}

/** One event and the value that its hooks may rewrite. */
export interface HookEventContext<Value = unknown> {
  readonly event: HookEvent;
  readonly sessionId: string;
  readonly value: Value;
  /** Returns the event data for the current value. */
  readonly describe: (value: Value) => {
    /** Fields under `data` of the hook's input. */
    readonly data: Readonly<Record<string, unknown>>;
    /** Top-level fields of the hook's input, with the names that other programs use. */
    readonly flat?: Readonly<Record<string, unknown>> | undefined;
    /** Returns the conversation, for dialects with their own message format. */
    readonly conversation?:
      | (() => {
          readonly messages: readonly Message[];
          readonly model: string;
          /** Set only at `after_model`. */
          readonly response?: ModelResponse | undefined;
        })
      | undefined;
    /** The tool result. Set only at `after_tool`. */
    readonly result?: ToolResult | undefined;
  };
  /** Returns the value after the effects of one hook, or the same value if the hook changes nothing. */
  readonly rewrite?: ((value: Value, effects: HookEffects) => Value) | undefined;
  /**
   * Returns the messages for the transcript, or undefined if the transcript gets no more messages. Undefined if no agent
   * runs the event.
   */
  readonly transcript?: (() => TranscriptMessages | undefined) | undefined;
  /** Id of the run. Undefined for session events. */
  readonly runId?: string | undefined;
  /** The agent and the id of the run, if the run is nested in another run. */
  readonly subagent?: { readonly agent: string; readonly id: string } | undefined;
  /** Name of the tool. Set only at tool events. */
  readonly tool?: string | undefined;
  /** Arguments of the tool call, for matchers that check them. */
  readonly args?: unknown;
  /** True if the tool failed. Set only at `after_tool`. */
  readonly isError?: boolean | undefined;
  /**
   * The string that matchers of Claude Code and Gemini CLI select at an event without a tool. Session events: the reason
   * of the start or the end, such as `startup`. Other events: the type of a notification, the name of a sub-agent, or
   * the trigger of a compaction.
   */
  readonly source?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Event data for the input of hooks. */
export type EventFields = ReturnType<HookEventContext['describe']>;

/** The agent and the id of a run inside of another run. */
export type Subagent = NonNullable<HookEventContext['subagent']>;

/** The fields that select which hooks of an event run. */
export type HookMatchInput = Pick<HookEventContext, 'event' | 'tool' | 'args' | 'isError' | 'source'>;

/** The name of a tool in a dialect, and the names of arguments that differ in the dialect. */
export interface ToolMapping {
  readonly name: string;
  /** Maps the name of an argument of your tool to its name in the dialect, such as `{ path: 'file_path' }`. */
  readonly args?: Readonly<Record<string, string>> | undefined;
}

/** Tools of other programs. For each dialect, maps the name of your tool to the tool in that dialect. */
export type ToolNames = Readonly<Partial<Record<HookDialect, Readonly<Record<string, string | ToolMapping>>>>>;
