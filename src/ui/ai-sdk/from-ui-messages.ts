import { isObject } from '../../internal/json.js';
import { textOf, type UserMessage } from '../../model/message.js';
import { UICallUnknownError, UIHistoryUnknownError } from '../error.js';
import { isAnswer } from '../history/message-id.js';
import { invalidBody, showValue } from '../invalid-body.js';
import type { UIDecision, UIRequest } from '../request.js';
import { userMessageOf } from '../user-content.js';

/**
 * Reads the body that `useChat` sends. Uses only the last user message, or the decisions on tool calls of the last
 * assistant message. Messages that were not answered are ignored. Throws a UIRequestError if the body is malformed, or if
 * an earlier answer does not come from this chat.
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
  checkAnswered(read, chatId);
  const last = read.at(-1) as ReadMessage;
  if (last.role === 'assistant') {
    if (trigger === 'regenerate-message') throw invalidBody('the last message', 'a user message', last.role);
    return { type: 'decisions', chatId, decisions: decisionsOf(last) };
  }
  const [message, ...earlier] = read
    .filter(({ role }) => role === 'user')
    .map(({ parts, at }) => userMessageOf(parts, at))
    .reverse() as [UserMessage, ...UserMessage[]];
  const after = earlier.reverse().map(textOf);
  if (trigger === 'regenerate-message') return { type: 'regenerate', chatId, message, after };
  return { type: 'message', chatId, message, editedAfter: messageId === last.id ? after : undefined };
}

interface ReadMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Readonly<Record<string, unknown>>[];
  /** The position in the body, for error messages. */
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

/** Throws a UIHistoryUnknownError if a message of the assistant does not come from this chat. */
function checkAnswered(messages: readonly ReadMessage[], chatId: string): void {
  let asked: ReadMessage | undefined;
  for (const message of messages) {
    if (message.role === 'user') asked = message;
    else if (message.parts.some(({ type }) => type !== 'step-start')) {
      if (isAnswer(message.id, chatId, asked === undefined ? '' : textOf(userMessageOf(asked.parts, asked.at))))
        continue;
      throw new UIHistoryUnknownError(
        `${message.at} must be an assistant message that this chat sent, got the id ${showValue(message.id)}. Load the history again.`,
      );
    }
  }
}

function decisionsOf({ parts, at }: ReadMessage): Record<string, UIDecision> {
  const decided = parts.filter(({ state }) => state === 'approval-responded');
  if (decided.length === 0) throw new UICallUnknownError(`${at} must contain a decision on a tool call, got none.`);
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
