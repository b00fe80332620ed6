import { type Message, textOf, toolCallsOf } from '../../model/message.js';

const SHOWN = 3;
const MAX_LENGTH = 60;

/** Describes a conversation on one line for error messages: the number of messages and the last few. */
export function describeMessages(messages: readonly Message[]): string {
  if (messages.length === 0) return 'no message';
  const count = messages.length === 1 ? '1 message' : `${messages.length} messages`;
  const shown = messages.slice(-SHOWN).map(describeMessage).join(', ');
  return messages.length > SHOWN ? `${count}, the last ${SHOWN}: ${shown}` : `${count}: ${shown}`;
}

/** Quotes a string, shortened to fit on a line. */
export function quote(text: string): string {
  return JSON.stringify(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text);
}

function describeMessage(message: Message): string {
  const calls = toolCallsOf(message).map((call) => call.name);
  const text = textOf(message);
  const content = text !== '' || calls.length === 0 ? ` ${quote(text)}` : '';
  return `${message.role}${content}${calls.length > 0 ? ` calling ${calls.join(' and ')}` : ''}`;
}
