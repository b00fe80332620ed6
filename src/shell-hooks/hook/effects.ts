import type { JsonValue } from '../../internal/json.js';
import type { AssistantPart, Message } from '../../model/message.js';
import type { ModelSettings } from '../../model/model.js';
import type { ProcessResult } from '../../process/run-process.js';
import type { SpawnFailureCode } from '../../process/spawn-failure.js';
import type { HookDialect } from '../../programs/hook-event.js';
import type { ToolResult } from '../../tools/tool.js';
import type { ShellHook } from './definition.js';

/** Effects that a hook asks for, independent of its dialect. */
export interface HookEffects {
  /** Cancels the operation, such as a tool call. The string is the reason. */
  readonly cancel?: string | undefined;
  /** Ends the run. The string is the reason. */
  readonly stop?: string | undefined;
  /** Suspends the tool call until a person decides. The string is the reason. */
  readonly ask?: string | undefined;
  /** Makes the agent continue after its answer. The string is added as a user message. */
  readonly again?: string | undefined;
  /** Messages for the model. */
  readonly modelTexts?: readonly string[] | undefined;
  /** Message for the user. */
  readonly userText?: string | undefined;
  readonly prompt?: string | undefined;
  /** Replaces all arguments of the tool call. */
  readonly input?: Readonly<Record<string, JsonValue>> | undefined;
  /** Replaces single arguments of the tool call. */
  readonly inputChanges?: Readonly<Record<string, JsonValue>> | undefined;
  readonly result?: ToolResult | undefined;
  readonly tools?: ToolChoiceLimit | undefined;
  /**
   * Returns the new parts of the response. At `before_model`, the parts replace the model call and the function gets an
   * empty array.
   */
  readonly response?: ((parts: readonly AssistantPart[]) => readonly AssistantPart[]) | undefined;
  /** Changes the model request. */
  readonly request?: RequestChange | undefined;
}

/** A change of the model request. */
export interface RequestChange {
  /** Id of the model that the hook asks for. Not supported: a warning is logged and the model of the run answers. */
  readonly model?: string | undefined;
  readonly settings: ModelSettings;
  /** Returns the changed messages. Throws a `MessageInvalidError` if they cannot be sent. */
  readonly change: (messages: readonly Message[]) => readonly Message[];
}

/** A limit for the tools of the next model call. */
export interface ToolChoiceLimit {
  readonly names: readonly string[] | undefined;
  /** `none` removes all tools, even if another hook allows some. `any` forces the model to call a tool. */
  readonly mode: 'auto' | 'any' | 'none';
  /**
   * If true, a tool stays if any hook of the event names it. If false, a tool that this hook does not name is removed.
   */
  readonly joins: boolean;
  /** Dialect of the tool names. Default `native`. */
  readonly dialect?: HookDialect | undefined;
  /** Extension package of the hook, which has other names for the tools of its own servers. */
  readonly extension?: string | undefined;
}

/** Kind of failure of a hook. */
type HookProblemKind =
  | 'not-started'
  | 'timed-out'
  | 'signaled'
  | 'exit-code'
  | 'output-limit'
  | 'malformed'
  | 'untrusted'
  | 'aborted';

/** The reason why a hook failed or was skipped. */
export interface HookProblem {
  readonly kind: HookProblemKind;
  readonly message: string;
  /** Advice on how to fix the problem. */
  readonly hint?: string | undefined;
  /**
   * Reason why the program could not be started. With `timed-out`, `no-resources` means that the hook spent part of its
   * time limit in the queue.
   */
  readonly code?: SpawnFailureCode | undefined;
}

/** A hook and the result of its program. */
export interface FinishedHook {
  readonly hook: ShellHook;
  readonly result: ProcessResult;
  /** Returns a value as the hook read it. Sensitive fields that the hook does not declare are redacted. */
  readonly shown: (value: unknown) => unknown;
  /** Removes secrets from a string that the hook wrote. */
  readonly redact: (text: string) => string;
}

/** The interpreted result of a finished hook. */
export interface HookReading {
  /** The JSON object that the hook wrote. */
  readonly output?: Readonly<Record<string, JsonValue>> | undefined;
  /** Data that later hooks of the same event get in their input. */
  readonly data: Readonly<Record<string, JsonValue>>;
  readonly effects: HookEffects;
  /** Output fields without effect at the hook's event, such as `updatedInput` or `hookSpecificOutput.tool_input`. */
  readonly ignored?: readonly string[] | undefined;
  readonly problem?: HookProblem | undefined;
  /** True if the hook failed, but a refusal was found in its output. The refusal then counts in place of the failure. */
  readonly refused?: boolean | undefined;
  /** True if nobody waited for the hook, so its answer could not decide anything. */
  readonly isDetached?: boolean | undefined;
}

/**
 * Returns the result of a hook that nobody waited for. It came too late to decide, so the reason of a refusal becomes a
 * message to the user.
 */
export function detached({ effects, ...reading }: HookReading): HookReading {
  const { userText, cancel, stop, ask, again, modelTexts } = effects;
  const text = userText ?? cancel ?? stop ?? ask ?? again ?? modelTexts?.join('\n');
  const isShown = text !== undefined && text !== NO_REASON && reading.problem === undefined;
  return { ...reading, effects: isShown ? { userText: text } : {}, isDetached: true };
}

/** Interpreted result of a hook that has no effect. */
export const SILENT: HookReading = Object.freeze({ data: Object.freeze({}), effects: Object.freeze({}) });

/** Returns the interpreted result of a failed hook. */
export function failed(problem: HookProblem): HookReading {
  return { ...SILENT, problem };
}

/** Reason that is used if a hook refuses without giving one. */
export const NO_REASON = 'no reason was given';
