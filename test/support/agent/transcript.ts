import type { Message, ToolResultPart } from 'keelson';

/**
 * Formats a conversation with one line per message: `user: hi`, `assistant: text + call c1 echo`, `tool: c1=result,
 * c2!error`. An error result has the prefix `!`. The line of a
 * suspended answer begins with `assistant?`.
 */
export function transcript(messages: readonly Message[]): readonly string[] {
  return messages.map((message) => {
    if (typeof message.content === 'string') return `${message.role}: ${message.content}`;
    const mark = message.role === 'assistant' && message.suspended ? '?' : '';
    return `${message.role}${mark}: ${message.content.map(show).join(', ')}`;
  });
}

function show(part: Exclude<Message['content'], string>[number]): string {
  if (part.type === 'text') return part.text;
  if (part.type === 'tool-call') return `call ${part.id} ${part.name}`;
  if (part.type === 'tool-result') return `${part.id}${part.isError ? '!' : '='}${textOfResult(part)}`;
  return `<${part.type}>`;
}

function textOfResult({ content }: ToolResultPart): string {
  return typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** Returns the results of a conversation by call id, with `!` before an error. */
export function resultsIn(messages: readonly Message[]): Readonly<Record<string, string>> {
  const results = messages.flatMap((message) => (message.role === 'tool' ? message.content : []));
  return Object.fromEntries(results.map((part) => [part.id, `${part.isError ? '!' : ''}${textOfResult(part)}`]));
}
