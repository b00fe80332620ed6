import { type OpenAIOptions, openai } from 'keelson/openai';
import type { ModelPart, ModelRequest, ModelResponse } from '../../../src/model/model.js';
import { type RecordedRequest, type Reply, type Script, startOpenAIServer } from './openai-server.js';

/** The outcome of one call. */
export interface Exchange {
  /** The value that the call resolved with, or `undefined`. */
  readonly response: ModelResponse | undefined;
  /** The error that the call rejected with, or `undefined`. */
  readonly error: unknown;
  /** The parts that the model pushed. */
  readonly parts: readonly ModelPart[];
  readonly requests: readonly RecordedRequest[];
}

/** The model's options and its id. */
export interface ExchangeOptions extends OpenAIOptions {
  readonly modelId?: string;
}

/** A minimal request. */
export const hello: ModelRequest = { messages: [{ role: 'user', content: 'Hello' }], tools: [] };

/** Calls a model once with a server that is closed after the call. */
export async function exchange(
  script: Script | Reply,
  request: Partial<ModelRequest> = {},
  options: ExchangeOptions = {},
): Promise<Exchange> {
  await using server = await startOpenAIServer(typeof script === 'function' ? script : [script]);
  const { modelId = 'gpt-5-mini', ...rest } = options;
  const model = openai(modelId, { baseURL: server.baseURL, maxRetries: 0, ...rest });
  const { requests } = server;
  try {
    const response = await model.generate({ ...hello, ...request });
    return { response, error: undefined, parts: [], requests };
  } catch (error) {
    return { response: undefined, error, parts: [], requests };
  }
}

/** Calls a model once with a listener, so that the model streams. */
export async function streamedExchange(
  script: Script | Reply,
  request: Partial<ModelRequest> = {},
  options: ExchangeOptions = {},
): Promise<Exchange> {
  const parts: ModelPart[] = [];
  const onPart = (part: ModelPart) => void parts.push(part);
  return { ...(await exchange(script, { ...request, onPart }, options)), parts };
}

/** Returns the body of the first request. */
export async function sentBody(request: Partial<ModelRequest>, options: ExchangeOptions = {}): Promise<unknown> {
  const message = { role: 'assistant', content: 'Hi' };
  const { requests, error } = await exchange(
    { json: { choices: [{ message, finish_reason: 'stop' }] } },
    request,
    options,
  );
  if (error) throw error;
  return requests[0]?.body;
}
