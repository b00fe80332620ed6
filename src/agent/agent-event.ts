import type { Decision } from '../lifecycle/decision.js';
import type { RunReports } from '../lifecycle/hook-run/run-reports.js';
import type { AssistantMessage, ToolResultPart, UserMessage } from '../model/message.js';
import type { ModelResponse } from '../model/model.js';
import type { ToolResult } from '../tools/tool.js';
import type { RunResult } from './run-result.js';

interface InTurn {
  readonly turn: number;
}

/** A streamed piece of a model response: text, reasoning or tool arguments. */
interface Streamed extends InTurn {
  /** The number of the model call within the turn. Starts at 1; each retry adds 1. */
  readonly attempt: number;
  readonly text: string;
}

interface OfCall extends InTurn {
  readonly callId: string;
  readonly name: string;
}

/** The last turn of a suspended nested run. When the run continues, its `run-start` event has this turn. */
export interface EarlierTurn {
  /** The number of the turn in the nested run, counted from the first turn. */
  readonly turn: number;
  readonly message: AssistantMessage;
  /** The results of the tool calls that did not have to wait for a decision. */
  readonly results: readonly ToolResultPart[];
}

/**
 * The events of a run, by type. Every event also has its `type` and a `runId`. The events of a nested run have a
 * `path`. Each `-start` event has one `-end` event.
 */
export interface AgentEvents {
  /**
   * The run starts. Emitted before any hook is called.
   *
   * `earlier` is set if a nested run continues after a decision. It is the last turn before the wait. The events of the
   * continued run count from it: it is turn 0.
   */
  'run-start': { readonly agent: string; readonly input: string; readonly earlier?: EarlierTurn | undefined };
  /** The run failed. Emitted right before its `run-end`. */
  'run-error': { readonly error: unknown };
  /** The run ended. Always the last event of a run, after every hook. If the run failed, `result` is absent. */
  'run-end': { readonly result?: RunResult<unknown> | undefined };
  /** A turn starts: a model call and the tool calls that it requests. Turn 0 runs the tool calls of a resumed run. */
  'turn-start': InTurn;
  /** A turn ended. Also emitted if the turn failed. */
  'turn-end': InTurn;
  /** The model is about to be called. */
  'model-start': InTurn & { readonly model: string };
  /**
   * A piece of streamed text. Provisional: a retry of the model call sends the text again from the beginning, with the
   * next `attempt`. `model-end` has the final response.
   *
   * If a lifecycle ends the run with its own text, this text is emitted after the `turn-end`, also with the next
   * `attempt`.
   */
  'text-delta': Streamed;
  /** A piece of streamed reasoning. Provisional: a retry of the model call sends it again from the beginning. */
  'reasoning-delta': Streamed;
  /**
   * A piece of the JSON arguments of a tool call. Provisional: `tool-start` has the complete arguments. `callId` is empty if
   * the provider sends the id only at the end of the tool call.
   */
  'tool-input-delta': Streamed & OfCall;
  'model-error': InTurn & RunReports['model-error'];
  'cache-miss': InTurn & RunReports['cache-miss'];
  'compaction-start': InTurn & RunReports['compaction-start'];
  'compaction-end': InTurn & RunReports['compaction-end'];
  'extension-error': InTurn & RunReports['extension-error'];
  'server-error': InTurn & RunReports['server-error'];
  /**
   * The model call ended. `response` is the response after all hooks. It is absent if the model call failed, or if a
   * hook discarded the response.
   */
  'model-end': InTurn & { readonly response?: ModelResponse | undefined };
  /** A tool call starts. */
  'tool-start': OfCall & { readonly input: unknown };
  /** Progress that a running tool reports with `progress(data)`. */
  'tool-delta': OfCall & { readonly data: unknown };
  /**
   * A tool call ended. `result` is the result after all hooks, or absent if the call was suspended. `error` is the
   * value that the tool threw.
   */
  'tool-end': OfCall & { readonly result?: ToolResult | undefined; readonly error?: unknown };
  /** A message that was sent to the session joined the conversation after this turn. */
  post: InTurn & {
    readonly id: string;
    readonly by?: string | undefined;
    readonly message: UserMessage;
    /** The id of the background work that has ended, if the message reports this end. */
    readonly work?: string | undefined;
  };
  /** The run continues with another agent after this turn. `from` and `to` are the names of the agents. */
  handoff: InTurn & { readonly from: string; readonly to: string };
  /** A lifecycle made a decision. */
  decision: { readonly decision: Decision };
}

/** An event of a run. {@link AgentEvents} describes each type. */
export type AgentEvent = {
  [Type in keyof AgentEvents]: {
    readonly type: Type;
    readonly runId: string;
    /** The ids of the enclosing tool calls, outermost first. Undefined for an outermost run. */
    readonly path?: readonly string[] | undefined;
  } & AgentEvents[Type];
}[keyof AgentEvents];

/** The event of a `type` value, such as `AgentEventOf<'tool-end'>`. */
export type AgentEventOf<Type extends AgentEvent['type']> = Extract<AgentEvent, { readonly type: Type }>;
