import { type Entry, type Message, textOf, toolCallsOf } from 'keelson';

/** Describes entries that a process appends, for a trace. */
export function describeEntries(entries: readonly Entry[]): string {
  return entries.length === 0 ? '' : `appends ${entries.map(describeEntry).join(' + ')}`;
}

/** Describes an entry in a few words. */
export function describeEntry({ id, body }: Entry): string {
  switch (body.type) {
    case 'message':
      return `${describeMessage(body.message, id)}${body.post === undefined ? '' : ` of post ${body.post}`}`;
    case 'post':
      return `posts ${body.post.type}${'run' in body.post ? ` of ${body.post.run}` : ''} ${id}`;
    case 'dropped':
      return `drop of ${body.post} (${body.why})`;
    case 'suspended':
      return `wait for decisions on ${body.calls.map((call) => call.id)}`;
    case 'decision':
      return `decision ${JSON.stringify(body.decision)} on ${body.call}`;
    default:
      return body.type;
  }
}

function describeMessage(message: Message, id: string): string {
  if (message.role === 'tool') {
    return message.content.map((part) => `result of ${part.id} (${part.isError ? part.content : 'ok'})`).join(', ');
  }
  const calls = toolCallsOf(message);
  if (calls.length > 0) return `calls ${calls.map((call) => call.id)}`;
  return message.role === 'user' ? `message ${id}` : `answer "${textOf(message)}"`;
}
