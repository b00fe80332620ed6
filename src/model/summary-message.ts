import type { Message, UserMessage } from './message.js';

/** The prefix by which a summary is recognised, even in a stored session. */
const MARK = '[Summary of the conversation so far]\n';

/** Makes the message that holds a summary. */
export function summaryMessage(summary: string): UserMessage {
  return { role: 'user', content: MARK + summary };
}

/** Returns true for a message that `summaryMessage` made. */
export function isSummary({ role, content }: Message): boolean {
  return role === 'user' && typeof content === 'string' && content.startsWith(MARK);
}
