import type { Decision } from '../lifecycle/decision.js';
import type { CompactionEndReport, CompactionStartReport, ModelErrorReport } from '../lifecycle/hook-run.js';
import type { ModelResponse } from '../model/model.js';
import type { ToolResult } from '../tools/tool.js';
import type { RunResult } from './run-result.js';

/** What every event says. */
interface EventBase {
  readonly runId: string;
}

/** The run has begun; before any hook. */
export interface RunStartEvent extends EventBase {
  readonly type: 'run-start';
  readonly agent: string;
  readonly input: string;
}

/** The run failed: right before its `run-end`. */
export interface RunErrorEvent extends EventBase {
  readonly type: 'run-error';
  readonly error: unknown;
}

/** The run is over, after every hook. The one last event of a run; `result` is absent where it failed. */
export interface RunEndEvent extends EventBase {
  readonly type: 'run-end';
  readonly result?: RunResult<unknown> | undefined;
}

/** A turn begins: a model call, and the tool calls that it asks for. Turn 0 runs the calls of a resumed run. */
export interface TurnStartEvent extends EventBase {
  readonly type: 'turn-start';
  readonly turn: number;
}

/** A turn is over, however it ended. */
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
 * Text that the model streams. Provisional: a later attempt starts over, and `model-end` is what counts. The text that a
 * lifecycle ends the run with comes as a new attempt after the `turn-end`.
 */
export interface TextDeltaEvent extends EventBase {
  readonly type: 'text-delta';
  readonly turn: number;
  /** Which model call of the turn it comes from: a retry counts up from 1. */
  readonly attempt: number;
  readonly text: string;
}

/** Reasoning that the model streams. Provisional too. */
export interface ReasoningDeltaEvent extends EventBase {
  readonly type: 'reasoning-delta';
  readonly turn: number;
  readonly attempt: number;
  readonly text: string;
}

/** A piece of a call's arguments, as the model writes them: JSON text. Provisional: `tool-start` has them whole. */
export interface ToolInputDeltaEvent extends EventBase {
  readonly type: 'tool-input-delta';
  readonly turn: number;
  readonly attempt: number;
  /** Empty when the server sends no id before the end of the call. */
  readonly callId: string;
  readonly name: string;
  readonly text: string;
}

/** A model call failed, and a lifecycle makes another: `retryModelCalls` the same one, `fallbackModels` one of another model. */
export interface ModelErrorEvent extends EventBase, ModelErrorReport {
  readonly turn: number;
}

/** `compaction` is about to summarise the conversation. */
export interface CompactionStartEvent extends EventBase, CompactionStartReport {
  readonly turn: number;
}

/** `compaction` has summarised the conversation, or left it as it is. */
export interface CompactionEndEvent extends EventBase, CompactionEndReport {
  readonly turn: number;
}

/** The response as the hooks left it, after `afterModel`; absent where the call failed or a hook withheld it. */
export interface ModelEndEvent extends EventBase {
  readonly type: 'model-end';
  readonly turn: number;
  readonly response?: ModelResponse | undefined;
}

/** A tool call begins. */
export interface ToolStartEvent extends EventBase {
  readonly type: 'tool-start';
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly input: unknown;
}

/** What a running tool tells of its progress. */
export interface ToolDeltaEvent extends EventBase {
  readonly type: 'tool-delta';
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly data: unknown;
}

/** A tool call has its result, as the wraps left it; absent where the call was left open. */
export interface ToolEndEvent extends EventBase {
  readonly type: 'tool-end';
  readonly turn: number;
  readonly callId: string;
  readonly name: string;
  readonly result?: ToolResult | undefined;
}

/** A part approved, blocked, changed or answered something. */
export interface DecisionEvent extends EventBase {
  readonly type: 'decision';
  readonly decision: Decision;
}

/** Everything that happens in a run, in order. Each `-start` has exactly one `-end`, whatever happens between. */
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
  | ModelEndEvent
  | ToolStartEvent
  | ToolDeltaEvent
  | ToolEndEvent
  | DecisionEvent;

/** The event with a given type. */
export type AgentEventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { readonly type: Type }>;
