import type { JsonValue } from '../../internal/json.js';
import type { AssistantPart, Message } from '../../model/message.js';
import type { ModelSettings } from '../../model/model.js';
import type { ProcessResult } from '../../process/run-process.js';
import type { ToolResult } from '../../tools/tool.js';
import type { ShellHook } from './definition.js';
import type { HookDialect } from './event.js';
import type { HookProblem } from './problem.js';

/** What a hook wants, whatever dialect it said it in. */
export interface HookEffects {
  /** Cancels what the event is about; the text is the reason. */
  readonly cancel?: string | undefined;
  /** Ends the run. */
  readonly stop?: string | undefined;
  /** Leaves the tool call open until a person has decided. */
  readonly ask?: string | undefined;
  /** Has the agent go on after its answer, with this text. */
  readonly again?: string | undefined;
  /** For the model. */
  readonly modelTexts?: readonly string[] | undefined;
  /** For the user. */
  readonly userText?: string | undefined;
  readonly prompt?: string | undefined;
  /** The arguments of the call, whole. */
  readonly input?: Readonly<Record<string, JsonValue>> | undefined;
  /** Changes single arguments of the call. */
  readonly inputChanges?: Readonly<Record<string, JsonValue>> | undefined;
  readonly result?: ToolResult | undefined;
  readonly tools?: ToolChoiceLimit | undefined;
  /** Returns the new parts of the response. At `before_model`: answers in place of the model, and gets no parts. */
  readonly response?: ((parts: readonly AssistantPart[]) => readonly AssistantPart[]) | undefined;
  /** Changes the request to the model. */
  readonly request?: RequestChange | undefined;
}

/** A change of the request to the model. */
export interface RequestChange {
  /** Another model, which is asked for in vain: that of the run answers. */
  readonly model?: string | undefined;
  readonly settings: ModelSettings;
  /** Changes the messages. Throws a `MessageInvalidError` if they cannot be sent. */
  readonly change: (messages: readonly Message[]) => readonly Message[];
}

/** Which tools are left. */
export interface ToolChoiceLimit {
  readonly names: readonly string[] | undefined;
  /** `none` wins over all else; `any`: the model has to call one. */
  readonly mode: 'auto' | 'any' | 'none';
  /** Whether the hooks of one event add their names together, in place of each taking some away. */
  readonly joins: boolean;
  /** The dialect that the names are in. Default `native`. */
  readonly dialect?: HookDialect | undefined;
}

/** A hook whose program is over. */
export interface FinishedHook {
  readonly hook: ShellHook;
  readonly result: ProcessResult;
  /** Returns a value as the hook read it: without the sensitive fields that the hook does not declare. */
  readonly shown: (value: unknown) => unknown;
}

/** What a finished hook said. */
export interface HookReading {
  /** Its output as it wrote it. */
  readonly output?: Readonly<Record<string, JsonValue>> | undefined;
  /** What later hooks of the event are told. */
  readonly data: Readonly<Record<string, JsonValue>>;
  readonly effects: HookEffects;
  /** The fields of its output that nobody reads at its event, such as `updatedInput` or `hookSpecificOutput.tool_input`. */
  readonly ignored?: readonly string[] | undefined;
  readonly problem?: HookProblem | undefined;
}

/** A hook that said nothing. */
export const SILENT: HookReading = Object.freeze({ data: Object.freeze({}), effects: Object.freeze({}) });

/** A hook that failed. */
export function failed(problem: HookProblem): HookReading {
  return { ...SILENT, problem };
}

/** The reason of a hook that gave none. */
export const NO_REASON = 'no reason was given';
