import { toJson } from '../../internal/json.js';
import { type Message, textOf, toolCallsOf } from '../../model/message.js';
import { assistantMessageId } from '../history/message-id.js';
import { suspendedAnswer } from '../history/pending.js';
import { hiddenMessages } from '../history/shown-messages.js';
import { toolOutput } from '../shown-content.js';
import type { AgUIMessage } from './ag-ui-event.js';

/** Options of `toAgUIMessages`. */
export interface ToAgUIMessagesOptions {
  /** The id of the chat, part of the message ids. Default: an empty string. */
  readonly chatId?: string | undefined;
}

/**
 * Converts the messages of a session to AG-UI messages. System messages, reasoning and files are left out, and so are
 * suspended and denied answers. The text of failed tool calls is replaced by `The tool failed.`
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * const messages = toAgUIMessages(session.messages, { chatId: 'ada' });
 */
export function toAgUIMessages(
  history: readonly Message[],
  { chatId = '' }: ToAgUIMessagesOptions = {},
): AgUIMessage[] {
  let count = 0;
  let answer = assistantMessageId(0, chatId, '');
  const hidden = hiddenMessages(history);
  const waiting = suspendedAnswer(history);
  return history.flatMap((message, index) => {
    if (message === waiting || hidden.has(message)) return [];
    if (message.role !== 'user') return convert(message, `${answer}.m${index + 1}`);
    count += 1;
    const content = textOf(message);
    answer = assistantMessageId(count, chatId, content);
    return [{ id: `u${count}`, role: 'user' as const, content }];
  });
}

function convert(message: Message, id: string): AgUIMessage[] {
  if (message.role === 'assistant') {
    const content = textOf(message);
    const toolCalls = toolCallsOf(message).map(({ id: callId, name, input, invalidInput }) => ({
      id: callId,
      type: 'function' as const,
      function: { name, arguments: invalidInput ?? toJson(input ?? {}) },
    }));
    return [
      { id, role: 'assistant', content: content || undefined, toolCalls: toolCalls.length > 0 ? toolCalls : undefined },
    ];
  }
  if (message.role !== 'tool') return [];
  return message.content.map((part) => ({
    id: `${id}.${part.id}`,
    role: 'tool',
    toolCallId: part.id,
    content: part.isError ? 'The tool failed.' : outputText(toolOutput(part)),
  }));
}

/** Returns the output of a tool as a string: a string unchanged, other values as JSON. */
export function outputText(output: unknown): string {
  return typeof output === 'string' ? output : toJson(output);
}
