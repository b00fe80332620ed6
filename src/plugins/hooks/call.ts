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

/** How plugins are called. */
export interface PluginCalling {
  /** Time for one hook. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the wait for a hook. */
  readonly signal?: AbortSignal | undefined;
}

/** What is done about a call: it goes on, or the model gets this text. */
export type ToolVerdict =
  | { readonly name: string; readonly input: Record<string, unknown>; readonly blocked?: undefined }
  | { readonly blocked: string };

const LONGEST_REASON = 2_000;

/** What a hook gives, or a TimeoutExceededError where it takes too long. What it does later has no effect. */
export async function callInTime<T>(
  what: string,
  work: () => Awaitable<T>,
  { timeoutMs, clock, signal }: PluginCalling,
): Promise<T> {
  const returned = work();
  if (!isPromise(returned)) return returned;
  const message = new TimeoutExceededError(what, timeoutMs);
  const options = { milliseconds: timeoutMs, message, customTimers: timersOf(clock), ...(signal && { signal }) };
  return await pTimeout(returned, options);
}

/** What takes as long as it does, such as a person's answer. Rejects only with what it rejects with, and where the signal fires. */
export function withoutLimit<T>(work: () => Promise<T>, calling: PluginCalling): Promise<T> {
  return callInTime('', work, { ...calling, timeoutMs: Number.POSITIVE_INFINITY });
}

/** Whether a run has a message: one that goes on from its conversation, such as a resumed one, has none. */
export function hasMessage(input: string, { messages }: RunContext): boolean {
  return input !== '' || messages.length === 0;
}

/** The message as one plugin wants it. Rejects where it gives none. */
export async function askMessage(part: PluginPart, message: string): Promise<string> {
  if (part.beforeMessage === undefined) return message;
  const answer = await part.beforeMessage(message);
  if (typeof answer === 'string') return answer;
  throw new HookResultInvalidError('beforeMessage returns the message', answer);
}

/** Asks one plugin about a call. Never rejects but for the signal: what a plugin does wrong blocks the call. */
export async function askBefore(part: PluginPart, call: PluginCall, calling: PluginCalling): Promise<ToolVerdict> {
  const blocked = `Tool "${call.name}" was blocked by plugin "${part.name}"`;
  try {
    const given = { ...call, input: cloneData(call.input) };
    const what = `beforeToolExecute of plugin "${part.name}"`;
    const answer: unknown = await callInTime(what, () => part.beforeTool?.(given), calling);
    if (answer === null) return { blocked: `${blocked}.` };
    const changed = callOf(answer, call.input);
    if (changed !== undefined) return changed;
    throw new HookResultInvalidError('beforeToolExecute returns { name, input }, or null to block', answer);
  } catch (error) {
    calling.signal?.throwIfAborted();
    logFailure(calling, `Plugin "${part.name}" failed before tool "${call.name}", so the call is blocked.`, error);
    return { blocked: `${blocked}: ${describeError(error).slice(0, LONGEST_REASON)}` };
  }
}

/** A copy of the call in an answer, since the plugin may still hold it. `given` is the input that it was asked about. */
function callOf(value: unknown, given: unknown): { name: string; input: Record<string, unknown> } | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, input } = value as { name?: unknown; input?: unknown };
  // A model may write a list or a text in the place of properties: who hands that on blocks nothing.
  const kind = kindOf(input);
  if (typeof name !== 'string' || (kind !== 'object' && kind !== kindOf(given))) return undefined;
  return { name, input: cloneData(input) as Record<string, unknown> };
}

function kindOf(input: unknown): string {
  if (Array.isArray(input)) return 'list';
  return input === null ? 'null' : typeof input;
}

/** Shows one plugin a result. Never rejects but for the signal: gives nothing where the plugin fails. */
export async function askAfter(
  part: PluginPart,
  shown: { readonly call: PluginCall; readonly result: ToolExecutionResult },
  calling: PluginCalling,
): Promise<ToolExecutionResult | undefined> {
  const { call, result } = shown;
  try {
    const given = { ...call, input: cloneData(call.input) };
    const what = `afterToolExecute of plugin "${part.name}"`;
    const answer: unknown = await callInTime(what, () => part.afterTool?.(given, { ...result }), calling);
    const changed = executionResultOf(answer);
    if (changed !== undefined) return changed;
    throw new HookResultInvalidError('afterToolExecute returns { content: string, isError?: boolean }', answer);
  } catch (error) {
    calling.signal?.throwIfAborted();
    logFailure(calling, `Plugin "${part.name}" failed after tool "${call.name}": the result is withheld.`, error);
    return undefined;
  }
}
