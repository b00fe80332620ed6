import type { Message } from '../../model/message.js';
import type { ModelResponse } from '../../model/model.js';
import type { ToolResult } from '../../tools/tool.js';
import type { HookEffects } from '../hook/effects.js';
import type { HookDialect, HookEvent } from '../hook/event.js';

/** One event, about one value that its hooks may rewrite. */
export interface HookEventContext<Value = unknown> {
  readonly event: HookEvent;
  readonly sessionId: string;
  readonly value: Value;
  /** What hooks are told of the value as it is. */
  readonly describe: (value: Value) => {
    /** The fields of the event, under `data`. */
    readonly data: Readonly<Record<string, unknown>>;
    /** The same and more at the top, in the words of other programs. */
    readonly flat?: Readonly<Record<string, unknown>> | undefined;
    /** The conversation, for the dialects whose hooks see it in their own words. */
    readonly conversation?:
      | (() => {
          readonly messages: readonly Message[];
          readonly model: string;
          /** At `after_model`. */
          readonly response?: ModelResponse | undefined;
        })
      | undefined;
    /** The result, at `after_tool`. */
    readonly result?: ToolResult | undefined;
  };
  /** What the value becomes by what a hook wants; the same value where it wants nothing of it. */
  readonly rewrite?: ((value: Value, effects: HookEffects) => Value) | undefined;
  /** The run; absent for the events of a session. */
  readonly runId?: string | undefined;
  /** The tool, at a tool event. */
  readonly tool?: string | undefined;
  /** The arguments of the call, for matchers that look at them. */
  readonly args?: unknown;
  /** Whether the tool failed, at `after_tool`. */
  readonly isError?: boolean | undefined;
  /** Why a session starts or ends, as Claude Code and Gemini CLI call it. */
  readonly source?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What an event says of itself. */
export type EventFields = ReturnType<HookEventContext['describe']>;

/** What decides which hooks of an event run. */
export type HookMatchInput = Pick<HookEventContext, 'event' | 'tool' | 'args' | 'isError' | 'source'>;

/** How tools are called elsewhere: for each dialect, from our name to that one. */
export type ToolNames = Readonly<Partial<Record<HookDialect, Readonly<Record<string, string>>>>>;
