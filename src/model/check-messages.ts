import { MessageInvalidError } from '../errors.js';
import { type Message, type ToolCallPart, type ToolResultPart, toolCallsOf } from './message.js';

/** The calls at the end of a conversation that have no result yet, with those of the same turn that have. */
export interface OpenCalls {
  /** Every call of the last turn, in call order. */
  readonly calls: readonly ToolCallPart[];
  /** The results that are there. */
  readonly results: readonly ToolResultPart[];
  /** The calls without a result. */
  readonly open: readonly ToolCallPart[];
  /** Where the message stands that asks for them. */
  readonly index: number;
}

/**
 * Checks a list of messages that came from outside: every message has a known role and content, every tool call has
 * exactly one result, before the model speaks again, and no result stands without its call. The calls of the last turn
 * may be open: then they are returned. User and system messages may follow them. Throws MessageInvalidError.
 */
export function checkMessages(messages: readonly Message[]): OpenCalls | undefined {
  if (!Array.isArray(messages)) throw new MessageInvalidError('`messages` is no array of messages.');
  let turn: Turn = { calls: [], results: [], index: -1, interrupted: false };
  for (const [index, message] of messages.entries()) {
    checkShape(message, index);
    if (message.role === 'tool') {
      turn.results.push(...checkResults(message.content, turn, index));
      if (turn.interrupted)
        throw new MessageInvalidError(`Message ${index} has results that do not follow their calls.`);
    } else {
      const calls = checkCalls(message, index);
      if (calls.length > 0) assertClosed(turn, index);
      if (calls.length > 0 || (message.role === 'assistant' && unanswered(turn).length === 0)) {
        turn = { calls, results: [], index, interrupted: false };
      } else {
        turn.interrupted = true;
      }
    }
  }
  const open = unanswered(turn);
  const { calls, results, index } = turn;
  return open.length === 0 ? undefined : { calls, results, open, index };
}

interface Turn {
  readonly calls: readonly ToolCallPart[];
  readonly results: ToolResultPart[];
  readonly index: number;
  /** Whether somebody else spoke after the calls. */
  interrupted: boolean;
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

const CONTENT = {
  system: 'text',
  user: 'text or an array of parts',
  assistant: 'an array of parts',
  tool: 'an array of tool results',
};

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
    throw new MessageInvalidError(`${where} (${role}) has no valid content: it takes ${CONTENT[role]}.`);
  }
}

function isPart(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { type, text } = part as { readonly type?: unknown; readonly text?: unknown };
  return type === 'text' ? typeof text === 'string' : typeof type === 'string';
}

function checkCalls(message: Message, index: number): readonly ToolCallPart[] {
  const calls = toolCallsOf(message);
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

function checkResults(results: readonly ToolResultPart[], turn: Turn, index: number): readonly ToolResultPart[] {
  const seen = new Set(turn.results.map(({ id }) => id));
  for (const { id } of results) {
    if (!turn.calls.some((call) => call.id === id)) {
      throw new MessageInvalidError(
        `Message ${index} has a result for "${id}", which the turn before it did not call.`,
      );
    }
    if (seen.has(id)) throw new MessageInvalidError(`Message ${index} has a second result for call "${id}".`);
    seen.add(id);
  }
  return results;
}

function assertClosed(turn: Turn, index: number): void {
  const [first] = unanswered(turn);
  if (first !== undefined) {
    throw new MessageInvalidError(
      `Tool call "${first.id}" has no result before message ${index}: the conversation has a gap.`,
    );
  }
}

function unanswered({ calls, results }: Turn): readonly ToolCallPart[] {
  return calls.filter((call) => !results.some((result) => result.id === call.id));
}
