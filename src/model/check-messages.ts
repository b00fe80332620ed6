import { MessageInvalidError } from '../errors.js';
import { isContent, type Message, type ToolCallPart, type ToolResultPart, toolCallsOf } from './message.js';
import { problemOfPart } from './whole-response.js';

/** The last tool calls of a conversation, if at least one of them has no result. */
export interface OpenCalls {
  /** All calls of the last turn, in call order. */
  readonly calls: readonly ToolCallPart[];
  /** The results that these calls already have in the conversation. */
  readonly results: readonly ToolResultPart[];
  /** The calls without a result. */
  readonly open: readonly ToolCallPart[];
  /** Index of the message that contains the calls. */
  readonly index: number;
}

/**
 * Checks messages that the caller passes to a run. Returns the calls of the last turn if any of them has no result.
 * Throws MessageInvalidError for an unknown role or invalid content.
 *
 * Each earlier call must have exactly one result before the next model turn, and each result must follow its call. User
 * and system messages may follow open calls.
 *
 * The check begins at index `from`: the earlier messages are already checked, and their calls have results.
 */
export function checkMessages(messages: readonly Message[], from = 0): OpenCalls | undefined {
  if (!Array.isArray(messages)) throw new MessageInvalidError('`messages` must be an array.');
  let turn: Turn = { calls: [], results: [], index: -1, interrupted: false };
  for (let index = from; index < messages.length; index++) {
    const message = messages[index] as Message;
    checkShape(message, index);
    if (message.role === 'tool') {
      turn.results.push(...checkResults(message.content, turn, index));
      if (turn.interrupted)
        throw new MessageInvalidError(
          `Message ${index} has tool results that do not follow their calls: put them after the message with the calls.`,
        );
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
  /** True if another message follows the calls. Then no further tool result is valid. */
  interrupted: boolean;
}

/** Throws if the message has tool calls or tool results, because only the run itself may add these. */
export function checkAddition(message: Message): void {
  checkShape(message, undefined);
  if (message.role === 'tool' || toolCallsOf(message).length > 0) {
    throw new MessageInvalidError(
      'Tool calls and their results cannot be added to a run: they come from its model and tools.',
    );
  }
}

const CONTENT = {
  system: 'a string',
  user: 'a string or an array of text, image and file parts',
  assistant: 'an array of parts',
  tool: 'an array of tool results',
};

function checkShape(message: Message, index: number | undefined): void {
  const where = index === undefined ? 'The message' : `Message ${index}`;
  if (typeof message !== 'object' || message === null) throw new MessageInvalidError(`${where} must be an object.`);
  const { role, content } = message;
  if (role !== 'system' && role !== 'user' && role !== 'assistant' && role !== 'tool') {
    throw new MessageInvalidError(
      `${where} has the unknown role ${JSON.stringify(role)}: use "system", "user", "assistant" or "tool".`,
    );
  }
  if (!isContentOf(role, content)) {
    throw new MessageInvalidError(`${where} (${role}): \`content\` must be ${CONTENT[role]}.`);
  }
}

function isContentOf(role: Message['role'], content: unknown): boolean {
  if (role === 'system') return typeof content === 'string';
  if (role === 'user') return isContent(content);
  if (!Array.isArray(content)) return false;
  return content.every(role === 'tool' ? isResult : (part) => problemOfPart(part) === undefined);
}

function isResult(part: Partial<ToolResultPart> | null): boolean {
  return part?.type === 'tool-result' && isContent(part.content);
}

function checkCalls(message: Message, index: number): readonly ToolCallPart[] {
  const calls = toolCallsOf(message);
  if (new Set(calls.map((call) => call.id)).size < calls.length) {
    throw new MessageInvalidError(`Message ${index} has two tool calls with the same id: each call needs its own id.`);
  }
  return calls;
}

function checkResults(results: readonly ToolResultPart[], turn: Turn, index: number): readonly ToolResultPart[] {
  const seen = new Set(turn.results.map(({ id }) => id));
  for (const { id } of results) {
    if (!turn.calls.some((call) => call.id === id)) {
      throw new MessageInvalidError(
        `Message ${index} has a result for call "${id}", but the previous turn did not make this call.`,
      );
    }
    if (seen.has(id))
      throw new MessageInvalidError(
        `Message ${index} has a second result for call "${id}": each call has exactly one result.`,
      );
    seen.add(id);
  }
  return results;
}

function assertClosed(turn: Turn, index: number): void {
  const [first] = unanswered(turn);
  if (first !== undefined) {
    throw new MessageInvalidError(
      `Tool call "${first.id}" has no result before message ${index}: add its tool result.`,
    );
  }
}

function unanswered({ calls, results }: Turn): readonly ToolCallPart[] {
  return calls.filter((call) => !results.some((result) => result.id === call.id));
}
