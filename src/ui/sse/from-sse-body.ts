import { DECISIONS, isDecision } from '../../agent/run/resume/continuation.js';
import { isObject } from '../../internal/json.js';
import type { UserMessage } from '../../model/message.js';
import type { PostWhen } from '../../state/record/entry.js';
import { isEdit } from '../../tools/edited-approval.js';
import { invalidBody } from '../invalid-body.js';
import type { UIDecision, UIRequest } from '../request.js';
import { userMessageOf } from '../user-content.js';

/**
 * Reads a body `{ id, message, messageId }` or `{ id, decisions }`. A message is a string or an array of text and file
 * parts.
 *
 * `messageId` is optional. With it, a message that is sent twice is stored once. Another text under the same id
 * replaces the message.
 *
 * Decisions are an object by call id, with the values `'approve'`, `'deny'`, `{ deny: reason }`, `{ approve: input }`
 * or `{ result, isError }`.
 */
export function fromSSEBody(body: unknown): UIRequest {
  if (!isObject(body)) throw invalidBody('the body', 'an object', body);
  const { id, message, decisions } = body;
  if (decisions === undefined) return readMessage(body);
  if (message !== undefined) throw invalidBody('`message`', 'absent beside `decisions`', message);
  return { type: 'decisions', chatId: readChatId(id), decisions: readDecisions(decisions) };
}

function readMessage(body: unknown): Extract<UIRequest, { readonly type: 'message' }> {
  const { id, message, messageId } = Object(body) as Readonly<Record<string, unknown>>;
  const chatId = readChatId(id);
  if (messageId !== undefined && (typeof messageId !== 'string' || messageId === '')) {
    throw invalidBody('`messageId`', 'a non-empty string', messageId);
  }
  const sent = { type: 'message', chatId, id: messageId } as const;
  if (typeof message === 'string') return { ...sent, message: { role: 'user', content: message } };
  if (!Array.isArray(message) || !message.every(isObject)) {
    throw invalidBody('`message`', 'a string or an array of parts', message);
  }
  return { ...sent, message: userMessageOf(message, '`message`') };
}

/** The parsed body of a request that sends a message to the active run. */
export interface SendBody {
  readonly message: UserMessage;
  readonly messageId: string | undefined;
  readonly when: PostWhen | undefined;
}

/** Reads a body `{ id, message, messageId, when }`. `messageId` and `when` are optional. */
export function readSend(body: unknown): SendBody {
  const { when } = Object(body) as Readonly<Record<string, unknown>>;
  const { message, id: messageId } = readMessage(body);
  if (when === undefined || when === 'now' || when === 'after-turn' || when === 'after-answer') {
    return { message, messageId, when };
  }
  throw invalidBody('`when`', "'now', 'after-turn' or 'after-answer'", when);
}

/** Reads the id of a message that no run has read yet, in a body `{ id, messageId }`. */
export function readMessageId(body: unknown): string {
  const { messageId } = Object(body) as Readonly<Record<string, unknown>>;
  if (typeof messageId !== 'string' || messageId === '') {
    throw invalidBody('`messageId`', 'the id of a message that waits', messageId);
  }
  return messageId;
}

/** Checks the id of a chat. Throws a UIBodyInvalidError if it is invalid. */
export function readChatId(id: unknown): string {
  if (typeof id !== 'string' || id === '') throw invalidBody('`id`', 'a non-empty string', id);
  return id;
}

/** Checks an object with decisions by call id. Throws a UIBodyInvalidError if a decision is invalid. */
export function readDecisions(decisions: unknown): Record<string, UIDecision> {
  if (!isObject(decisions) || Object.keys(decisions).length === 0) {
    throw invalidBody('`decisions`', 'an object with at least one decision', decisions);
  }
  return Object.fromEntries(
    Object.entries(decisions).map(([callId, decision]) => {
      if (!isDecision(decision)) throw invalidBody(`the decision on ${JSON.stringify(callId)}`, DECISIONS, decision);
      return [callId, withoutOthers(decision as UIDecision)];
    }),
  );
}

/** Returns a decision without unknown members, because decisions are stored. */
function withoutOthers(decision: UIDecision): UIDecision {
  if (typeof decision === 'string') return decision;
  if (isEdit(decision)) return { approve: decision.approve };
  if ('deny' in decision) return { deny: decision.deny };
  const { result, isError } = decision;
  return isError ? { result, isError } : { result };
}
