import type { Decision } from '../lifecycle/decision.js';
import type {
  CompactionEndReport,
  CompactionStartReport,
  ExtensionErrorReport,
  ModelErrorReport,
  ServerErrorReport,
} from '../lifecycle/hook-run/run-report.js';
import type { ModelResponse } from '../model/model.js';
import type { ToolResult } from '../tools/tool.js';
import type { RunResult } from './run-result.js';

/** The members that every event has. */
interface EventBase {
  readonly runId: string;
}

/** The run starts. Emitted before any hook is called. */
export interface RunStartEvent extends EventBase {
  readonly type: 'run-start';
  readonly agent: string;
  readonly input: string;
}

/** The run failed. Emitted right before its `run-end`. */
export interface RunErrorEvent extends EventBase {
  readonly type: 'run-error';
  readonly error: unknown;
}

/** The run ended. Always the last event of a run, after every hook; `result` is absent if the run failed. */
export interface RunEndEvent extends EventBase {
  readonly type: 'run-end';
  readonly result?: RunResult<unknown> | undefined;
}

/** A turn starts: a model call and the tool calls that it requests. Turn 0 runs the tool calls of a resumed run. */
export interface TurnStartEvent extends EventBase {
  readonly type: 'turn-start';
  readonly turn: number;
}

/** A turn ended. Also emitted if the turn failed. */
export interface TurnEndEvent extends EventBase {
  readonly type: 'turn-end';
  readonly turn: number;
}

/** The model is about to be called. */
export interface ModelStartEvent extends EventBase {
  readonly type: 'model-start';
  readonly turn: number;
  readonly model: string;
}

/**
 * A piece of streamed text. Provisional: a later attempt starts again from the beginning, and `model-end` has the final
 * response. If a lifecycle ends the run with its own text, that text follows the `turn-end` as a new attempt.
 */
export interface TextDeltaEvent extends EventBase {
  readonly type: 'text-delta';
  readonly turn: number;
  /** The number of the model call within the turn. Starts at 1; each retry adds 1. */
  readonly attempt: number;
  readonly text: string;
}

/** A piece of streamed reasoning. Provisional, as a `text-delta`. */
export interface ReasoningDeltaEvent extends EventBase {
  readonly type: 'reasoning-delta';
  readonly turn: number;
  readonly attempt: number;
  readonly text: string;
}

/** A piece of the JSON arguments of a tool call. Provisional: `tool-start` has the complete arguments. */
export interface ToolInputDeltaEvent extends EventBase {
  readonly type: 'tool-input-delta';
  readonly turn: number;
  readonly attempt: number;
  /** Empty if the provider sends the id only at the end of the tool call. */
  readonly callId: string;
  readonly name: string;
  readonly text: string;
}

/** A model call failed, and a lifecycle (`retryModelCalls` or `fallbackModels`) makes another model call. */
export interface ModelErrorEvent extends EventBase, ModelErrorReport {
  readonly turn: number;
}

/** The lifecycle `compaction` starts to summarise the conversation. */
export interface CompactionStartEvent extends EventBase, CompactionStartReport {
  readonly turn: number;
}

/** The lifecycle `compaction` has summarised the conversation, or has left it unchanged. */
export interface CompactionEndEvent extends EventBase, CompactionEndReport {
  readonly turn: number;
}

/** A callback extension was set aside for a while, because it kept failing. */
export interface ExtensionErrorEvent extends EventBase, ExtensionErrorReport {
  readonly turn: number;
}

/** The run starts without the tools of some MCP servers. The tools join as soon as their server is connected. */
export interface ServerErrorEvent extends EventBase, ServerErrorReport {
  readonly turn: number;
}

/** The response after all hooks; absent if the model call failed or a hook withheld the response. */
export interface ModelEndEvent extends EventBase {
  readonly type: 'model-end';
  readonly turn: number;
  readonly response?: ModelResponse | undefined;
}

/** A tool call starts. */
export interface ToolStartEvent extends EventBase {
  readonly type: 'tool-start';
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

/** Progress that a running tool reports with `progress(data)`. */
export interface ToolDeltaEvent extends EventBase {
  readonly type: 'tool-delta';
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly data: unknown;
}

/** A tool call ended, with its result after all hooks; absent if the call was suspended. */
export interface ToolEndEvent extends EventBase {
  readonly type: 'tool-end';
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly result?: ToolResult | undefined;
}

/** A lifecycle made a decision. */
export interface DecisionEvent extends EventBase {
  readonly type: 'decision';
  readonly decision: Decision;
}

/** All events of a run. Each `-start` event has exactly one `-end` event. */
export type AgentEvent =
  | RunStartEvent
  | RunErrorEvent
  | RunEndEvent
  | TurnStartEvent
  | TurnEndEvent
  | ModelStartEvent
  | TextDeltaEvent
  | ReasoningDeltaEvent
  | ToolInputDeltaEvent
  | ModelErrorEvent
  | CompactionStartEvent
  | CompactionEndEvent
  | ExtensionErrorEvent
  | ServerErrorEvent
  | ModelEndEvent
  | ToolStartEvent
  | ToolDeltaEvent
  | ToolEndEvent
  | DecisionEvent;

/** The event type of a `type` value, such as `AgentEventOf<'tool-end'>`. */
export type AgentEventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { readonly type: Type }>;
