import type { ToolCallPart } from '../../../model/message.js';
import type { ModelPart, ModelResponse, ToolSpec } from '../../../model/model.js';
import { readArguments, uniqueId } from '../../shared/answer.js';
import { isObject, parseJson, textOr } from '../../shared/wire.js';

/** A server that does not recognize the tool calls of its models, so that the calls arrive as text. */
interface WritingServer {
  /** Matches the host name of the server. */
  readonly host: RegExp;
  readonly source: string;
  readonly date: string;
}

const SERVERS: readonly WritingServer[] = [
  {
    // Ollama, llama.cpp, vLLM, LM Studio and other servers on the same machine or in the local network.
    host: /^(?:localhost|host\.docker\.internal|.*\.local|\[::1\]|(?:127|10)(?:\.\d+){3}|192\.168(?:\.\d+){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2})$/,
    source: 'https://github.com/NousResearch/hermes-agent/pull/83023',
    date: '2026-08-10',
  },
  {
    host: /(?:^|\.)(?:openrouter\.ai|nousresearch\.com)$/,
    source: 'https://github.com/NousResearch/hermes-agent/pull/742',
    date: '2026-03-09',
  },
];

/** True for a server whose tool calls may arrive as text. */
export function writesCalls(baseURL: string | undefined): boolean {
  const host = URL.canParse(baseURL ?? '') ? new URL(baseURL ?? '').hostname : '';
  return SERVERS.some((server) => server.host.test(host));
}

const OPENING = '<tool_call>';
const CALL = /<tool_call>\s*(\{.*?\})\s*<\/tool_call>\s*/gs;

/**
 * Converts a text that consists only of written calls of offered tools into tool calls. A call inside other text may be
 * a quotation, so it stays text.
 */
export function withWrittenCalls(response: ModelResponse, tools: readonly ToolSpec[]): ModelResponse {
  const { content } = response;
  const isPlain = content.every(({ type }) => type === 'text' || type === 'reasoning');
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = isPlain ? callsIn(text.trim(), tools) : [];
  if (calls.length === 0) return response;
  const others = content.filter(({ type }) => type !== 'text');
  return { ...response, content: [...others, ...calls], finishReason: 'tool-calls' };
}

function callsIn(text: string, tools: readonly ToolSpec[]): readonly ToolCallPart[] {
  if (!text.startsWith(OPENING) || text.replace(CALL, '') !== '') return [];
  const ids = new Set<string>();
  const calls = [...text.matchAll(CALL)].map(([, json = '']) => {
    const call = parseJson(json);
    const { name, arguments: given, args = given, parameters = args } = isObject(call) ? call : {};
    const isOffered = tools.some((tool) => tool.name === name);
    if (!isOffered) return undefined;
    return {
      type: 'tool-call' as const,
      id: uniqueId(undefined, ids),
      name: textOr(name),
      ...readArguments(parameters),
    };
  });
  return calls.flatMap((call) => call ?? []).length === calls.length ? (calls as readonly ToolCallPart[]) : [];
}

/** Holds back the text of a stream as long as it may turn out to be a written tool call. */
export class WrittenCallGate {
  private held = '';
  private isOpen = false;

  constructor(private readonly push: (part: ModelPart) => void) {}

  take(part: ModelPart): void {
    if (part.type !== 'text-delta' || this.isOpen) return this.push(part);
    this.held += part.text;
    const begun = this.held.trimStart();
    if (!(begun.startsWith(OPENING) || OPENING.startsWith(begun))) this.open();
  }

  /** Passes on the text that was held back, because it is not a tool call. */
  open(): void {
    this.isOpen = true;
    if (this.held !== '') this.push({ type: 'text-delta', text: this.held });
    this.held = '';
  }
}
