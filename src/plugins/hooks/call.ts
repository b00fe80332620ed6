import pTimeout from 'p-timeout';
import { describeError, HookResultInvalidError, TimeoutExceededError } from '../../errors.js';
import { type Clock, timersOf } from '../../internal/clock.js';
import { type Logger, logFailure } from '../../internal/logger.js';
import { cloneData } from '../../internal/plain-data.js';
import { type Awaitable, isPromise } from '../../internal/promise.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { ToolExecutionResult } from '../plugin.js';
import type { PluginCall, PluginPart } from './part.js';
import { executionResultOf } from './tool.js';

/** Time limit, clock, logger and abort signal for calls of plugin hooks. */
export interface PluginCalling {
  /** Time limit for one hook call, in milliseconds. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Stops waiting for a hook when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** The decision on a tool call: the call to run, or the reason for the model if it is blocked. */
export type ToolVerdict =
  | { readonly name: string; readonly input: Record<string, unknown>; readonly blocked?: undefined }
  | { readonly blocked: string };

const LONGEST_REASON = 2_000;

/**
 * Runs a hook. Rejects with a TimeoutExceededError if the hook takes longer than `timeoutMs`. A later result of the
 * hook is ignored.
 */
export async function callInTime<T>(
  what: string,
  work: () => Awaitable<T>,
  { timeoutMs, clock, signal }: PluginCalling,
): Promise<T> {
  const returned = work();
  if (!isPromise(returned)) return returned;
  const message = new TimeoutExceededError(what, timeoutMs);
  const options = { milliseconds: timeoutMs, message, customTimers: timersOf(clock) };
  return await pTimeout(returned, signal === undefined ? options : { ...options, signal });
}

/** Runs work without a time limit, such as an approval prompt. Rejects if the work rejects or the signal aborts. */
export function withoutLimit<T>(work: () => Promise<T>, calling: PluginCalling): Promise<T> {
  return callInTime('', work, { ...calling, timeoutMs: Number.POSITIVE_INFINITY });
}

/** False if the run continues a conversation without a new message, such as a resumed run. */
export function hasMessage(input: string, { messages }: RunContext): boolean {
  return input !== '' || messages.length === 0;
}

/** Returns the message that one plugin returns. Rejects if the plugin returns anything but a string. */
export async function askMessage(part: PluginPart, message: string): Promise<string> {
  if (part.beforeMessage === undefined) return message;
  const answer = await part.beforeMessage(message);
  if (typeof answer === 'string') return answer;
  throw new HookResultInvalidError('beforeMessage must return a string', answer);
}

/**
 * Asks one plugin for its decision on a tool call. An error of the plugin blocks the call. Rejects only if the signal
 * aborts.
 */
export async function askBefore(part: PluginPart, call: PluginCall, calling: PluginCalling): Promise<ToolVerdict> {
  const blocked = `Tool "${call.name}" was blocked by plugin "${part.name}"`;
  try {
    const copy = { ...call, input: cloneData(call.input) };
    const what = `beforeToolExecute of plugin "${part.name}"`;
    const answer: unknown = await callInTime(what, () => part.beforeTool?.(copy), calling);
    if (answer === null) return { blocked: `${blocked}.` };
    const changed = callOf(answer, call.input);
    if (changed !== undefined) return changed;
    throw new HookResultInvalidError('beforeToolExecute must return { name, input }, or null to block', answer);
  } catch (error) {
    calling.signal?.throwIfAborted();
    logFailure(calling, `Plugin "${part.name}" failed before tool "${call.name}", so the call is blocked.`, error);
    return { blocked: `${blocked}: ${describeError(error).slice(0, LONGEST_REASON)}` };
  }
}

/**
 * Returns a copy of the call that a plugin returned, because the plugin may change its object later. Undefined if the
 * returned value is invalid.
 */
function callOf(value: unknown, original: unknown): { name: string; input: Record<string, unknown> } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, input } = value as { name?: unknown; input?: unknown };
  // A model may send an array or a string as the input. A plugin that returns such an input unchanged does not block
  // the call.
  const kind = kindOf(input);
  if (typeof name !== 'string' || (kind !== 'object' && kind !== kindOf(original))) return undefined;
  return { name, input: cloneData(input) as Record<string, unknown> };
}

function kindOf(input: unknown): string {
  if (Array.isArray(input)) return 'array';
  return input === null ? 'null' : typeof input;
}

/** A tool call and its result, as plugins see them. */
interface ShownResult {
  readonly call: PluginCall;
  readonly result: ToolExecutionResult;
  /** True if a plugin failed. The original result must then stay hidden. */
  readonly isWithheld?: boolean;
}

/**
 * Passes a tool result through the plugins in order. Each plugin gets the result that the previous plugin returned. If
 * a plugin fails, a fixed error replaces the result. The plugin's own error message is left out, because it may quote
 * text that the plugin was to remove.
 */
export async function passAfter(
  parts: readonly PluginPart[],
  first: ShownResult,
  calling: PluginCalling,
): Promise<ShownResult> {
  let shown = first;
  for (const part of parts.filter(({ afterTool }) => afterTool !== undefined)) {
    const result = await askAfter(part, shown, calling);
    const content = `Plugin "${part.name}" failed after tool "${first.call.name}", so the result is withheld.`;
    shown =
      result === undefined ? { ...shown, result: { content, isError: true }, isWithheld: true } : { ...shown, result };
  }
  return shown;
}

/** Passes a tool result to one plugin. Resolves to undefined if the plugin fails. Rejects only if the signal aborts. */
async function askAfter(part: PluginPart, { call, result }: ShownResult, calling: PluginCalling) {
  try {
    const copy = { ...call, input: cloneData(call.input) };
    const what = `afterToolExecute of plugin "${part.name}"`;
    const answer: unknown = await callInTime(what, () => part.afterTool?.(copy, { ...result }), calling);
    const changed = executionResultOf(answer);
    if (changed !== undefined) return changed;
    throw new HookResultInvalidError('afterToolExecute must return { content: string, isError?: boolean }', answer);
  } catch (error) {
    calling.signal?.throwIfAborted();
    logFailure(calling, `Plugin "${part.name}" failed after tool "${call.name}": the result is withheld.`, error);
    return undefined;
  }
}
