import type { Message } from 'keelson';
import { scriptedExplorer } from '../../../examples/demo/scripted-explorer.js';
import { replyWith } from '../providers/openai-reply.js';
import { type OpenAIServer, startOpenAIServer } from '../providers/openai-server.js';

interface WireCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

/** Starts an OpenAI-compatible server that answers with the demo's script. */
export function startExplorerServer(): Promise<OpenAIServer> {
  const model = scriptedExplorer();
  let calls = 0;
  return startOpenAIServer(async (body) => {
    const { content } = await model.generate({ messages: body.messages.map(messageOf), tools: [] });
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    const toolCalls = content.flatMap((part) => {
      if (part.type !== 'tool-call') return [];
      calls += 1;
      return [{ id: `call_w${calls}`, name: part.name, arguments: JSON.stringify(part.input) }];
    });
    return replyWith(toolCalls.length > 0 ? { toolCalls } : { text }, body);
  });
}

/** Converts a wire message. Each tool result becomes its own message, which is enough for the script. */
function messageOf(wire: Readonly<Record<string, unknown>>): Message {
  const text = typeof wire.content === 'string' ? wire.content : '';
  if (wire.role === 'system' || wire.role === 'user') return { role: wire.role, content: text };
  if (wire.role === 'tool') {
    const id = String(wire.tool_call_id);
    return { role: 'tool', content: [{ type: 'tool-result', id, name: '', content: text }] };
  }
  const calls = (wire.tool_calls ?? []) as readonly WireCall[];
  return {
    role: 'assistant',
    content: [
      { type: 'text', text },
      ...calls.map(({ id, function: { name, arguments: input } }) => ({
        ...{ type: 'tool-call' as const, id, name },
        input: JSON.parse(input),
      })),
    ],
  };
}
