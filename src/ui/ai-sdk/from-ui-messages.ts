import { isObject, type JsonValue } from '../../internal/json.js';
import type { GivenResult } from '../../state/record/entry.js';
import { UICallUnknownError } from '../error.js';
import { invalidBody, showValue } from '../invalid-body.js';
import type { UIDecision, UIRequest } from '../request.js';
import { userMessageOf } from '../user-content.js';

/**
 * Reads the body that `useChat` sends. Uses only the last message: a user message, or the decisions and the tool
 * outputs in an assistant message. Throws a UIRequestError if the body is malformed.
 *
 * @example
 * const post = async (request: Request) => {
 *   const body = fromUIMessages(await request.json());
 *   return uiMessageResponse(agent.stream(body.type === 'decisions' ? '' : body.message));
 * };
 */
export function fromUIMessages(body: unknown): UIRequest {
  if (!isObject(body)) throw invalidBody('the body', 'an object', body);
  const { id: chatId, messages, trigger = 'submit-message', messageId } = body;
  if (typeof chatId !== 'string' || chatId === '') throw invalidBody('`id`', 'a non-empty string', chatId);
  if (!Array.isArray(messages) || messages.length === 0) throw invalidBody('`messages`', 'a non-empty array', messages);
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message') {
    throw invalidBody('`trigger`', '"submit-message" or "regenerate-message"', trigger);
  }
  const read = messages.map(readMessage);
  const last = read.findLast((message) => !isMarker(message)) as ReadMessage;
  if (last?.role === 'assistant' && trigger === 'submit-message') {
    return { type: 'decisions', chatId, id: last.id, ...answersOf(last) };
  }
  if (last?.role !== 'user') throw invalidBody('the last message', 'a user message', last?.role);
  const after = read.slice(0, read.indexOf(last)).findLast(({ role }) => role === 'user')?.id;
  const sent = { chatId, id: last.id, after, message: userMessageOf(last.parts, last.at) };
  if (trigger === 'regenerate-message') return { type: 'regenerate', ...sent, answer: readId(messageId) };
  return { type: 'message', ...sent, edited: messageId === last.id };
}

/** Returns true for a message that only marks a summary of earlier messages. It is not an answer. */
export function isMarker(message: unknown): boolean {
  const parts = isObject(message) ? message.parts : undefined;
  if (!Array.isArray(parts) || parts.length === 0) return false;
  return parts.every((part) => isObject(part) && part.type === 'data-summary');
}

function readId(id: unknown): string | undefined {
  return typeof id === 'string' ? id : undefined;
}

interface ReadMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Readonly<Record<string, unknown>>[];
  /** The position of the message in the body, such as `messages[2]`, for error messages. */
  readonly at: string;
}

function readMessage(message: unknown, index: number): ReadMessage {
  const at = `\`messages[${index}]\``;
  if (!isObject(message)) throw invalidBody(at, 'an object', message);
  const { id, role, parts } = message;
  if (typeof id !== 'string' || id === '') throw invalidBody(`the id of ${at}`, 'a non-empty string', id);
  if (role !== 'user' && role !== 'assistant') throw invalidBody(`the role of ${at}`, '"user" or "assistant"', role);
  if (!Array.isArray(parts) || !parts.every((part) => isObject(part) && typeof part.type === 'string')) {
    throw invalidBody(`the parts of ${at}`, 'an array of objects with a `type`', parts);
  }
  return { id, role, parts, at };
}

function answersOf(message: ReadMessage) {
  const decisions = decisionsOf(message);
  const results = resultsOf(message);
  if (Object.keys({ ...decisions, ...results }).length > 0) return { decisions, results };
  throw new UICallUnknownError(
    `${message.at} must contain a decision on a tool call, or the output of a tool call. It has neither.`,
  );
}

/**
 * Returns the outputs of the tool calls of a message. Includes outputs that the server has sent, because they look the
 * same as outputs of the page.
 */
function resultsOf({ parts }: ReadMessage): Record<string, GivenResult> {
  return Object.fromEntries(
    parts.flatMap(({ state, toolCallId, output, errorText, preliminary }): [string, GivenResult][] => {
      const id = String(toolCallId);
      if (state === 'output-error') return [[id, { result: String(errorText ?? 'The tool failed.'), isError: true }]];
      // If a tool returned nothing, the model reads `Done.`
      return state === 'output-available' && !preliminary ? [[id, { result: (output as JsonValue) ?? 'Done.' }]] : [];
    }),
  );
}

function decisionsOf({ parts, at }: ReadMessage): Record<string, UIDecision> {
  const decided = parts.filter(({ state }) => state === 'approval-responded');
  const decisions: Record<string, UIDecision> = Object.fromEntries(
    decided.map(({ toolCallId, approval }) => {
      if (typeof toolCallId !== 'string' || !isObject(approval) || typeof approval.approved !== 'boolean') {
        throw invalidBody(`the approval in ${at}`, 'an object with `id` and a boolean `approved`', approval);
      }
      if (approval.id !== toolCallId) {
        throw new UICallUnknownError(
          `The approval id ${showValue(approval.id)} must be the id of its tool call, ${showValue(toolCallId)}.`,
        );
      }
      const { approved, reason } = approval;
      const denial = typeof reason === 'string' && reason !== '' ? { deny: reason } : 'deny';
      return [toolCallId, approved ? 'approve' : denial];
    }),
  );
  if (Object.keys(decisions).length < decided.length) {
    throw invalidBody(`the approvals in ${at}`, 'one approval for each tool call', Object.keys(decisions));
  }
  return decisions;
}
