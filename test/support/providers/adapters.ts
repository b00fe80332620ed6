import { createOpenAI as createOpenAIv2 } from 'ai-sdk-openai-v2';
import { createOpenAI as createOpenAIv3 } from 'ai-sdk-openai-v3';
import { type AiSdkModel, aiSdk } from 'keelson/ai-sdk';
import { anthropic } from 'keelson/anthropic';
import { openai } from 'keelson/openai';
import type { Model } from '../../../src/model/model.js';
import { event, eventsOf, messageOf, type ScriptedMessage } from './anthropic-server.js';
import { type HeardItem, type HeardTools, heardChat, heardMessages, heardResponses, heardTools } from './heard.js';
import { chunk, replyWith, type ScriptedAnswer } from './openai-reply.js';
import type { Reply, RequestBody } from './openai-server.js';
import { itemEvents, message, respond } from './responses-reply.js';

/** The model options of an adapter, except its base URL. */
export interface AdapterOptions {
  readonly maxRetries?: number;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A model's answer, independent of a protocol. */
export interface Said extends Omit<ScriptedAnswer, 'finishReason'> {
  readonly finish?: 'length' | 'content-filter';
}

/** A provider adapter with replies in its protocol. */
export interface Adapter {
  readonly name: string;
  /** The provider name of its errors and its model. */
  readonly provider: string;
  readonly model: (baseURL: string, options?: AdapterOptions) => Model;
  /** Returns the server's reply for this answer, streamed if the request asks for a stream. */
  readonly reply: (said: Said, body?: Partial<RequestBody>) => Reply;
  /** Returns the first events of a stream with these texts, one event each. */
  readonly begun: (...texts: readonly string[]) => readonly unknown[];
  /** Returns an error event for a stream. */
  readonly errorEvent: (type: string, text: string) => unknown;
  /** Returns an error as a response body. */
  readonly errorBody: (type: string, text: string) => object;
  /** Parses the messages of a request. */
  readonly heard: (body: RequestBody) => readonly HeardItem[];
  /** Parses the tools and the tool choice of a request. */
  readonly tools: (body: RequestBody) => HeardTools;
  /** True if the protocol has reasoning. */
  readonly tellsReasoning: boolean;
  /** True if the adapter also streams without a listener. */
  readonly alwaysStreams?: boolean;
}

const CHAT_WORDS = { length: 'length', 'content-filter': 'content_filter' };
const MESSAGE_WORDS = { length: 'max_tokens', 'content-filter': 'refusal' };
const RESPONSE_WORDS = { length: 'max_output_tokens', 'content-filter': 'content_filter' };

const chat = {
  provider: 'openai',
  reply: ({ finish, ...said }: Said, body?: Partial<RequestBody>) =>
    replyWith({ ...said, ...(finish && { finishReason: CHAT_WORDS[finish] }) }, body),
  begun: (...texts: readonly string[]) => texts.map((content) => chunk({ content })),
  errorEvent: (type: string, text: string) => ({ error: { message: text, type, code: type, param: null } }),
  errorBody: (type: string, text: string) => ({ error: { message: text, type, code: null, param: null } }),
  heard: heardChat,
  tools: heardTools,
} as const;

const messages = {
  provider: 'anthropic',
  reply: (said: Said, body?: Partial<RequestBody>): Reply => {
    const answer = messageFor(said);
    return body?.stream ? { chunks: eventsOf(answer), end: 'silent' } : { json: messageOf(answer) };
  },
  begun: (...texts: readonly string[]) => [
    ...eventsOf({ content: [{ type: 'text', text: '' }] }).slice(0, 3),
    ...texts.map((text) => event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  ],
  errorEvent: (type: string, text: string) => event({ type: 'error', error: { type, message: text } }),
  errorBody: (type: string, text: string) => ({ type: 'error', error: { type, message: text } }),
  heard: heardMessages,
  tools: heardTools,
  tellsReasoning: true,
  alwaysStreams: true,
} as const;

const responses = {
  ...chat,
  reply: ({ finish, ...said }: Said, body?: Partial<RequestBody>) =>
    respond({ ...said, ...(finish && { finishReason: RESPONSE_WORDS[finish] }) }, body),
  begun: (...texts: readonly string[]) => {
    const [added] = itemEvents(message(''), 0);
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0, logprobs: [] };
    return [added, ...texts.map((delta) => ({ type: 'response.output_text.delta', ...at, delta }))];
  },
  errorEvent: (type: string, text: string) => ({
    type: 'error',
    sequence_number: 0,
    error: { type, code: type, message: text, param: null },
  }),
  heard: heardResponses,
} as const;

function messageFor({ reasoning, text, toolCalls = [], finish }: Said): ScriptedMessage {
  const thought = { type: 'thinking', thinking: reasoning, signature: 'EqQBCg==' };
  const content = [
    ...(reasoning === undefined ? [] : [thought]),
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...toolCalls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
  ];
  return { content, ...(finish && { stopReason: MESSAGE_WORDS[finish] }) };
}

type Connection = { readonly baseURL: string; readonly apiKey: string };

/** Creates an adapter for an AI SDK provider: the connection options go to the provider, and the others to aiSdk(). */
function ofAiSdk(make: (connection: Connection) => AiSdkModel): Adapter['model'] {
  return (baseURL, { apiKey = 'k', ...options } = {}) => aiSdk(make({ baseURL, apiKey }), options);
}

/** Every provider adapter under test. */
export const adapters: readonly Adapter[] = [
  {
    ...chat,
    name: 'keelson/openai',
    tellsReasoning: true,
    model: (baseURL, options) => openai('gpt-5-mini', { baseURL, ...options }),
  },
  {
    ...responses,
    name: 'keelson/openai, responses',
    tellsReasoning: true,
    model: (baseURL, options) => openai('gpt-5-mini', { baseURL, api: 'responses', ...options }),
  },
  {
    ...messages,
    name: 'keelson/anthropic',
    model: (baseURL, options) => anthropic('claude-sonnet-5', { baseURL: baseURL.replace(/\/v1$/, ''), ...options }),
  },
  {
    ...chat,
    name: 'keelson/ai-sdk, chat completions of v2',
    tellsReasoning: false,
    model: ofAiSdk((connection) => createOpenAIv2(connection).chat('gpt-5-mini')),
  },
  {
    ...chat,
    name: 'keelson/ai-sdk, chat completions of v3',
    tellsReasoning: false,
    model: ofAiSdk((connection) => createOpenAIv3(connection).chat('gpt-5-mini')),
  },
  {
    ...responses,
    name: 'keelson/ai-sdk, responses of v3',
    tellsReasoning: true,
    model: ofAiSdk((connection) => createOpenAIv3(connection).responses('gpt-5-mini')),
  },
];
