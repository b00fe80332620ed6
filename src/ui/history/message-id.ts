import { type Message, textOf, type UserMessage } from '../../model/message.js';
import { shownMessages } from './shown-messages.js';

/**
 * Returns the id of the assistant message that answers the user message number `count` (from 1) of a chat. The id
 * contains a checksum of the chat and of the user message, so that an id of another conversation is recognised. The
 * checksum is not a signature. It need not be one, because the content of earlier messages is never read.
 */
export function assistantMessageId(count: number, chat: string, userText: string): string {
  return `a${count}-${checksum(`${count}\n${chat}\n${userText}`)}`;
}

/** True if the id is the id of an answer to this user message, with or without a suffix after a dot. */
export function isAnswer(id: string, chat: string, userText: string): boolean {
  const [answer = ''] = id.split('.', 1);
  const count = /^a(\d{1,9})-[0-9a-f]{8}$/.exec(answer)?.[1];
  return count !== undefined && answer === assistantMessageId(Number(count), chat, userText);
}

/**
 * Returns the id of the assistant message that the next run of a session answers `input` with. Without `input`, the run
 * answers the last user message.
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * const messageId = nextMessageId(session.messages, 'ada', { role: 'user', content: 'Hello' });
 * const response = uiMessageResponse(session.stream('Hello'), { messageId });
 */
export function nextMessageId(history: readonly Message[], chatId: string, input: UserMessage | undefined): string {
  const users = shownMessages(history).filter((message) => message.role === 'user');
  const answered = input ?? users.at(-1);
  const count = users.length + (input === undefined ? 0 : 1);
  return assistantMessageId(count, chatId, answered === undefined ? '' : textOf(answered));
}

/** FNV-1a with 32 bits, over UTF-16 code units. */
function checksum(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}
