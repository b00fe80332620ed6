import { type Message, textOf, toolCallsOf } from '../../model/message.js';
import { toolOutput } from '../shown-content.js';
import type { AgUIMessage } from './ag-ui-event.js';

/** Converts the messages of a session to AG-UI messages. System messages, reasoning and files are left out. */
export function toAgUIMessages(history: readonly Message[]): AgUIMessage[] {
  return history.flatMap((message, index) => convert(message, `m${index + 1}`));
}

function convert(message: Message, id: string): AgUIMessage[] {
  if (message.role === 'user') return [{ id, role: 'user', content: textOf(message) }];
  if (message.role === 'assistant') {
    const content = textOf(message);
    const toolCalls = toolCallsOf(message).map(({ id: callId, name, input, invalidInput }) => ({
      id: callId,
      type: 'function' as const,
      function: { name, arguments: invalidInput ?? JSON.stringify(input ?? {}) },
    }));
    return [{ id, role: 'assistant', ...(content && { content }), ...(toolCalls.length > 0 && { toolCalls }) }];
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
  return typeof output === 'string' ? output : JSON.stringify(output);
}
