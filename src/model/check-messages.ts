import { MessageInvalidError } from '../errors.js';
import { type AssistantMessage, type Message, type ToolCallPart, type ToolResultPart, toolCallsOf } from './message.js';

/** The calls at the end of a conversation that have no result yet, with those of the same turn that have. */
export interface OpenCalls {
  /** Every call of the last turn, in call order. */
  readonly calls: readonly ToolCallPart[];
  /** The results that are there. */
  readonly results: readonly ToolResultPart[];
  /** The calls without a result. */
  readonly open: readonly ToolCallPart[];
}

/**
 * Checks a list of messages that came from outside: every message has a known role and content, every tool call but those of
 * the last turn has exactly one result, and no result stands without its call. Throws MessageInvalidError. Returns the
 * calls of the last turn that are open, or undefined.
 */
export function checkMessages(messages: readonly Message[]): OpenCalls | undefined {
  if (!Array.isArray(messages)) throw new MessageInvalidError('`messages` is no array of messages.');
  let calls: readonly ToolCallPart[] = [];
  let results: readonly ToolResultPart[] = [];
  for (const [index, message] of messages.entries()) {
    checkShape(message, index);
    if (message.role === 'tool') {
      results = checkResults(message.content, calls, index);
    } else {
      assertClosed(calls, results, index);
      calls = checkCalls(message, index);
      results = [];
    }
  }
  const open = unanswered(calls, results);
  return open.length === 0 ? undefined : { calls, results, open };
}

/** Checks that a message may join a running conversation: anything but tool calls and their results. */
export function checkAddition(message: Message): void {
  checkShape(message, undefined);
  if (message.role === 'tool' || toolCallsOf(message).length > 0) {
    throw new MessageInvalidError(
      'Tool calls and their results cannot be added to a run: they come from its model and tools.',
    );
  }
}

function checkShape(message: Message, index: number | undefined): void {
  const where = index === undefined ? 'The message' : `Message ${index}`;
  if (typeof message !== 'object' || message === null) throw new MessageInvalidError(`${where} is no object.`);
  const { role, content } = message;
  if (role !== 'system' && role !== 'user' && role !== 'assistant' && role !== 'tool') {
    throw new MessageInvalidError(`${where} has the unknown role ${JSON.stringify(role)}.`);
  }
  const isText = typeof content === 'string' && (role === 'system' || role === 'user');
  const isParts = Array.isArray(content) && role !== 'system' && content.every(isPart);
  if (!isText && !isParts) {
    const expected = role === 'system' ? 'text' : role === 'user' ? 'text or an array of parts' : 'an array of parts';
    throw new MessageInvalidError(`${where} (${role}) has no valid content: it takes ${expected}.`);
  }
}

function isPart(part: unknown): boolean {
  return typeof part === 'object' && part !== null && typeof (part as { type?: unknown }).type === 'string';
}

function checkCalls(message: Message, index: number): readonly ToolCallPart[] {
  const calls = toolCallsOf(message as AssistantMessage);
  for (const { id, name } of calls) {
    if (typeof id !== 'string' || id === '' || typeof name !== 'string') {
      throw new MessageInvalidError(`Message ${index} has a tool call without id or name.`);
    }
  }
  if (new Set(calls.map((call) => call.id)).size < calls.length) {
    throw new MessageInvalidError(`Message ${index} has two tool calls with one id.`);
  }
  return calls;
}

function checkResults(
  results: readonly ToolResultPart[],
  calls: readonly ToolCallPart[],
  index: number,
): readonly ToolResultPart[] {
  const seen = new Set<string>();
  for (const { id } of results) {
    if (!calls.some((call) => call.id === id)) {
      throw new MessageInvalidError(
        `Message ${index} has a result for "${id}", which the turn before it did not call.`,
      );
    }
    if (seen.has(id)) throw new MessageInvalidError(`Message ${index} has two results for call "${id}".`);
    seen.add(id);
  }
  return results;
}

function assertClosed(calls: readonly ToolCallPart[], results: readonly ToolResultPart[], index: number): void {
  const [first] = unanswered(calls, results);
  if (first !== undefined) {
    throw new MessageInvalidError(
      `Tool call "${first.id}" has no result before message ${index}: the conversation has a gap.`,
    );
  }
}

function unanswered(calls: readonly ToolCallPart[], results: readonly ToolResultPart[]): readonly ToolCallPart[] {
  return calls.filter((call) => !results.some((result) => result.id === call.id));
}
