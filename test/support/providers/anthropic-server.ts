import { type AnthropicOptions, anthropic } from 'keelson/anthropic';
import type { ModelPart, ModelRequest } from '../../../src/model/model.js';
import { type Exchange, hello } from './openai-exchange.js';
import { type OpenAIServer, type Reply, type Script, startOpenAIServer } from './openai-server.js';

/** Starts a server on a free port, for use as the base URL of an Anthropic client. */
export async function startAnthropicServer(script: Script | readonly Reply[]): Promise<OpenAIServer> {
  const server = await startOpenAIServer(script);
  return { ...server, baseURL: server.baseURL.replace(/\/v1$/, '') };
}

/** One answer of a scripted model. */
export interface ScriptedMessage {
  readonly content?: readonly Readonly<Record<string, unknown>>[];
  readonly stopReason?: string | null;
  readonly usage?: object;
}

/** Returns a text block. */
export const text = (said: string) => ({ type: 'text', text: said });

/** Returns a tool call block. */
export const toolUse = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });

/** Returns a complete message, as Anthropic sends it without streaming. */
export function messageOf({ content = [], stopReason, usage }: ScriptedMessage): Record<string, unknown> {
  const called = content.some(({ type }) => type === 'tool_use');
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-5',
    content,
    stop_reason: stopReason === undefined ? usualReason(called) : stopReason,
    stop_sequence: null,
    usage: { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 5, ...usage },
  };
}

/** Returns the events of a streamed message: text and input JSON in two pieces each, signatures in their own events. */
export function eventsOf(answer: ScriptedMessage): readonly string[] {
  const { stop_reason, stop_sequence, usage, content, ...head } = messageOf(answer);
  const start = {
    ...head,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...(usage as object), output_tokens: 1 },
  };
  return [
    event({ type: 'message_start', message: start }),
    event({ type: 'ping' }),
    ...(answer.content ?? []).flatMap(blockEvents),
    event({
      type: 'message_delta',
      delta: { stop_reason, stop_sequence },
      usage: { output_tokens: 5, ...answer.usage },
    }),
    event({ type: 'message_stop' }),
  ];
}

/** Returns the server reply for a streamed message. */
export function stream(answer: ScriptedMessage): Reply {
  return { chunks: eventsOf(answer), end: 'silent' };
}

/** Formats one event with its name. */
export function event(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function blockEvents(block: Readonly<Record<string, unknown>>, index: number): readonly string[] {
  const { start, deltas } = piecesOf(block);
  return [
    event({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ];
}

function piecesOf(block: Readonly<Record<string, unknown>>): { start: object; deltas: readonly object[] } {
  if (block.type === 'text') {
    const citations = Array.isArray(block.citations) ? block.citations : [];
    const deltas = halves(String(block.text)).map((piece) => ({ type: 'text_delta', text: piece }));
    const cited = citations.map((citation) => ({ type: 'citations_delta', citation }));
    return {
      start: { ...block, text: '', ...(citations.length > 0 && { citations: [] }) },
      deltas: [...cited, ...deltas],
    };
  }
  if (block.type === 'thinking') {
    const deltas = halves(String(block.thinking)).map((piece) => ({ type: 'thinking_delta', thinking: piece }));
    const signed = { type: 'signature_delta', signature: block.signature };
    return { start: { type: 'thinking', thinking: '', signature: '' }, deltas: [...deltas, signed] };
  }
  if (!String(block.type).endsWith('tool_use')) return { start: block, deltas: [] };
  const json = typeof block.input === 'string' ? block.input : JSON.stringify(block.input);
  const deltas = ['', ...halves(json)].map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
  return { start: { ...block, input: {} }, deltas };
}

function halves(said: string): readonly string[] {
  const half = Math.ceil(said.length / 2);
  return [said.slice(0, half), said.slice(half)].filter((piece) => piece !== '');
}

function usualReason(called: boolean): string {
  return called ? 'tool_use' : 'end_turn';
}

/** The model's options and its id. */
export interface CallOptions extends AnthropicOptions {
  readonly modelId?: string;
}

/** Calls a model once with a listener, and a server that is closed after the call. */
export async function call(
  script: Script | Reply,
  request: Partial<ModelRequest> = {},
  options: CallOptions = {},
): Promise<Exchange> {
  await using server = await startAnthropicServer(typeof script === 'function' ? script : [script]);
  const { modelId = 'claude-sonnet-5', ...rest } = options;
  const model = anthropic(modelId, { baseURL: server.baseURL, maxRetries: 0, ...rest });
  const { requests } = server;
  const parts: ModelPart[] = [];
  const onPart = (part: ModelPart) => void parts.push(part);
  try {
    const response = await model.generate({ ...hello, onPart, ...request });
    return { response, error: undefined, parts, requests };
  } catch (error) {
    return { response: undefined, error, parts, requests };
  }
}

/** Returns the body of the request that a call sends. */
export async function sentBody(request: Partial<ModelRequest>, modelId?: string): Promise<Record<string, unknown>> {
  const { requests, error } = await call(stream({ content: [text('Hi')] }), request, modelId ? { modelId } : {});
  if (error) throw error;
  return requests[0]?.body as Record<string, unknown>;
}
