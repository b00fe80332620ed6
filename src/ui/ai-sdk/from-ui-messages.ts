import { isObject } from '../../internal/json.js';
import type { FilePart, ImagePart, TextPart, UserMessage } from '../../model/message.js';
import { textOf } from '../../model/message.js';
import { UIBodyInvalidError, UICallUnknownError, UIHistoryUnknownError } from '../error.js';
import { answeredMessage, assistantMessageId } from './message-id.js';

/** The decision of a person on a tool call. */
export type UIDecision = 'approve' | 'deny' | { readonly deny: string };

/** The part of a request that the server uses. Everything else comes from the session. */
export type UIRequest =
  | {
      readonly type: 'message';
      readonly chatId: string;
      readonly message: UserMessage;
      /** The number of the user message (from 1) that the new message replaces. Absent if it is added. */
      readonly replaces?: number | undefined;
    }
  | { readonly type: 'decisions'; readonly chatId: string; readonly decisions: Readonly<Record<string, UIDecision>> }
  | {
      readonly type: 'regenerate';
      readonly chatId: string;
      /** The number of the user message (from 1) to answer anew, with its text as the page shows it. */
      readonly userMessage: number;
      readonly text: string;
    };

/**
 * Reads the body that `useChat` sends. Uses only the last user message, or the decisions on tool calls of the last
 * assistant message. Throws a UIRequestError if the body is malformed, if an earlier message of the assistant does not
 * come from this chat, or if the page adds the result of a tool call. Messages that were not answered are ignored.
 *
 * @example
 * const body = fromUIMessages(await request.json());
 * if (body.type === 'message') return uiMessageResponse(session.stream(body.message));
 */
export function fromUIMessages(body: unknown): UIRequest {
  if (!isObject(body)) throw invalid('the body', 'an object', body);
  const { id: chatId, messages, trigger = 'submit-message', messageId } = body;
  if (typeof chatId !== 'string' || chatId === '') throw invalid('`id`', 'a non-empty string', chatId);
  if (!Array.isArray(messages) || messages.length === 0) throw invalid('`messages`', 'a non-empty array', messages);
  if (trigger !== 'submit-message' && trigger !== 'regenerate-message') {
    throw invalid('`trigger`', '"submit-message" or "regenerate-message"', trigger);
  }
  const read = messages.map(readMessage);
  checkAnswered(read, chatId);
  const last = read.at(-1) as ReadMessage;
  const users = read.filter(({ role }) => role === 'user').length;
  if (last.role === 'assistant') {
    if (trigger === 'regenerate-message') throw invalid('the last message', 'a user message', last.role);
    return { type: 'decisions', chatId, decisions: decisionsOf(last) };
  }
  if (trigger === 'regenerate-message') {
    return { type: 'regenerate', chatId, userMessage: users, text: textOf(userMessage(last)) };
  }
  const replaces = messageId === last.id ? { replaces: users } : {};
  return { type: 'message', chatId, message: userMessage(last), ...replaces };
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
  if (!isObject(message)) throw invalid(at, 'an object', message);
  const { id, role, parts } = message;
  if (typeof id !== 'string' || id === '') throw invalid(`the id of ${at}`, 'a non-empty string', id);
  if (role !== 'user' && role !== 'assistant') throw invalid(`the role of ${at}`, '"user" or "assistant"', role);
  if (!Array.isArray(parts) || !parts.every((part) => isObject(part) && typeof part.type === 'string')) {
    throw invalid(`the parts of ${at}`, 'an array of objects with a `type`', parts);
  }
  return { id, role, parts, at };
}

/** Throws a UIHistoryUnknownError if a message of the assistant does not come from this chat. */
function checkAnswered(messages: readonly ReadMessage[], chatId: string): void {
  let asked: ReadMessage | undefined;
  for (const message of messages) {
    if (message.role === 'user') asked = message;
    else if (message.parts.some(({ type }) => type !== 'step-start')) {
      const count = answeredMessage(message.id);
      const text = asked === undefined ? '' : textOf(userMessage(asked));
      if (count !== undefined && message.id === assistantMessageId(count, chatId, text)) continue;
      throw new UIHistoryUnknownError(
        `${message.at} must be an assistant message that this chat sent, got the id ${show(message.id)}. Load the history again.`,
      );
    }
  }
}

function decisionsOf({ parts, at }: ReadMessage): Record<string, UIDecision> {
  const decided = parts.filter(({ state }) => state === 'approval-responded');
  if (decided.length === 0) throw new UICallUnknownError(`${at} must contain a decision on a tool call, got none.`);
  return Object.fromEntries(
    decided.map(({ toolCallId, approval }) => {
      if (typeof toolCallId !== 'string' || !isObject(approval) || typeof approval.approved !== 'boolean') {
        throw invalid(`the approval in ${at}`, 'an object with `id` and a boolean `approved`', approval);
      }
      if (approval.id !== toolCallId) {
        throw new UICallUnknownError(
          `The approval id ${show(approval.id)} must be the id of its tool call, ${show(toolCallId)}.`,
        );
      }
      const { approved, reason } = approval;
      return [
        toolCallId,
        approved ? 'approve' : typeof reason === 'string' && reason !== '' ? { deny: reason } : 'deny',
      ];
    }),
  );
}

function userMessage({ parts, at }: ReadMessage): UserMessage {
  const content = parts.map((part, index) => userPart(part, `part ${index} of ${at}`));
  if (content.length === 0) throw invalid(`the parts of ${at}`, 'at least one part', content);
  const [only] = content;
  return { role: 'user', content: content.length === 1 && only?.type === 'text' ? only.text : content };
}

function userPart(part: Readonly<Record<string, unknown>>, at: string): TextPart | ImagePart | FilePart {
  const { type, text, url, mediaType, filename } = part;
  if (type === 'text') {
    if (typeof text !== 'string') throw invalid(`the text of ${at}`, 'a string', text);
    return { type: 'text', text };
  }
  if (type !== 'file') throw invalid(at, 'a text or a file', type);
  // A URL would make the server, or the provider, load an address that the page chose.
  if (typeof url !== 'string' || !/^data:/i.test(url)) throw invalid(`the url of ${at}`, 'a `data:` URL', url);
  if (typeof mediaType !== 'string') throw invalid(`the mediaType of ${at}`, 'a string', mediaType);
  if (mediaType.startsWith('image/')) return { type: 'image', image: url, mediaType };
  return { type: 'file', data: url, mediaType, ...(typeof filename === 'string' && { filename }) };
}

function invalid(what: string, expected: string, value: unknown): UIBodyInvalidError {
  return new UIBodyInvalidError(`${what} must be ${expected}, got ${show(value)}`);
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
