import type { WatchedRunError } from '../agent/session/session-error.js';
import { boolean, callable } from '../internal/options/rules.js';
import type { OptionTable } from '../internal/options/validate.js';
import type { ToolResult } from '../tools/tool.js';

/** A failed tool call, as `toolErrorText` receives it. */
interface FailedToolCall {
  readonly callId: string;
  readonly name: string;
  readonly result: ToolResult;
}

/** Options for the error texts on the page. The default texts do not mention the cause. */
export interface ErrorTextOptions {
  /** Returns the text for the error of a failed run. Default: `The run failed.`, with the code of the error. */
  readonly errorText?: ((error: unknown) => string) | undefined;
  /** Returns the text for a failed tool call. Default: `The tool failed.` */
  readonly toolErrorText?: ((call: FailedToolCall) => string) | undefined;
}

/** Options for sending a run to one page. */
export interface PageOptions extends ErrorTextOptions {
  /**
   * False if the person on the page may not approve or deny tool calls and answers. The page then receives no requests
   * for decisions, and no text of a suspended answer. Default: true.
   */
  readonly decides?: boolean | undefined;
}

/** The functions of ErrorTextOptions with defaults applied. */
export interface StreamTexts {
  readonly errorText: (error: unknown) => string;
  readonly toolErrorText: (call: FailedToolCall) => string;
}

/** Validation rules of the options for error texts. */
export const errorTextRules = { errorText: callable, toolErrorText: callable } satisfies OptionTable<ErrorTextOptions>;

/** Validation rules of PageOptions. */
export const pageRules = { ...errorTextRules, decides: boolean } satisfies OptionTable<PageOptions>;

/** Applies the defaults. If a function throws, its default text is used. */
export function resolveErrorTexts({ errorText, toolErrorText }: ErrorTextOptions): StreamTexts {
  return {
    errorText: (error) => attempt(() => errorText?.(error)) ?? codeOnly(error),
    toolErrorText: (call) => attempt(() => toolErrorText?.(call)) ?? 'The tool failed.',
  };
}

/**
 * Returns the code of an error. For the error of a run that was followed, returns the code of the error that ended the
 * run.
 */
export function codeOf(error: unknown): string | undefined {
  const { code, failure } = Object(error) as Partial<WatchedRunError>;
  const own: unknown = failure === undefined ? code : failure.code;
  return typeof own === 'string' ? own : undefined;
}

/**
 * Returns the text of a callback, or undefined if the callback throws. Its error would hide the failure that the text
 * describes.
 */
function attempt(callback: () => unknown): string | undefined {
  try {
    const text = callback();
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns a text with only the code of an error, because the message may reveal details of the server, such as paths.
 */
function codeOnly(error: unknown): string {
  const code = codeOf(error);
  return code !== undefined && /^ERR_[A-Z_]+$/.test(code) ? `The run failed (${code}).` : 'The run failed.';
}
