import { type AnthropicOptions, anthropic } from 'keelson/anthropic';
import type { ModelPart, ModelRequest } from '../../../src/model/model.js';
import { type Exchange, hello } from './openai-exchange.js';
import { type OpenAIServer, type Reply, type Script, startOpenAIServer } from './openai-server.js';

/** Starts a server on a free port that a client of Anthropic can be given as its base URL. */
export async function startAnthropicServer(script: Script | readonly Reply[]): Promise<OpenAIServer> {
  const server = await startOpenAIServer(script);
  return { ...server, baseURL: server.baseURL.replace(/\/v1$/, '') };
}

/** What a scripted model says in one answer. */
export interface ScriptedMessage {
  readonly content?: readonly Readonly<Record<string, unknown>>[];
  readonly stopReason?: string | null;
  readonly usage?: object;
}

/** A block of text. */
export const text = (said: string) => ({ type: 'text', text: said });

/** A block that calls a tool. */
export const toolUse = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input });

/** An answer as Anthropic sends it where no stream was asked for. */
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

/** The events of a streamed answer: texts in two pieces, inputs as JSON in two pieces, signatures by themselves. */
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

/** The reply with a streamed answer. */
export function stream(answer: ScriptedMessage): Reply {
  return { chunks: eventsOf(answer), end: 'silent' };
}

/** One event with its name. */
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

/** The model's options, and its id. */
export interface CallOptions extends AnthropicOptions {
  readonly modelId?: string;
}

/** Calls a model once, with somebody who listens, over a server that lives as long as the call. */
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

/** The body of the request that a call sends. */
export async function sentBody(request: Partial<ModelRequest>, modelId?: string): Promise<Record<string, unknown>> {
  const { requests, error } = await call(stream({ content: [text('Hi')] }), request, modelId ? { modelId } : {});
  if (error) throw error;
  return requests[0]?.body as Record<string, unknown>;
}
