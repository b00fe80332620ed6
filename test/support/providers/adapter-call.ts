import type { ModelPart, ModelRequest, ModelResponse } from '../../../src/model/model.js';
import type { Adapter, AdapterOptions, Said } from './adapters.js';
import { type RecordedRequest, type Reply, type Script, startOpenAIServer } from './openai-server.js';

/** The outcome of one call. */
export interface Outcome {
  readonly response: ModelResponse | undefined;
  readonly error: unknown;
  readonly parts: readonly ModelPart[];
  readonly requests: readonly RecordedRequest[];
}

export interface CallOptions extends AdapterOptions {
  readonly request?: Partial<ModelRequest>;
  /** True to stream to a listener. Default: true. */
  readonly listens?: boolean;
}

/** A minimal request. */
export const hello: ModelRequest = { messages: [{ role: 'user', content: 'Hello' }], tools: [] };

/** Calls an adapter's model once with a server that is closed after the call. */
export async function call(adapter: Adapter, script: Script | Reply, options: CallOptions = {}): Promise<Outcome> {
  await using server = await startOpenAIServer(typeof script === 'function' ? script : [script]);
  const { request, listens = true, ...rest } = options;
  const model = adapter.model(server.baseURL, { maxRetries: 0, ...rest });
  const parts: ModelPart[] = [];
  const onPart = listens ? (part: ModelPart) => void parts.push(part) : undefined;
  const { requests } = server;
  try {
    const response = await model.generate({ ...hello, onPart, ...request });
    return { response, error: undefined, parts, requests };
  } catch (error) {
    return { response: undefined, error, parts, requests };
  }
}

/** Returns a script that sends these answers in order. */
export function inOrder(adapter: Adapter, ...answers: readonly Said[]): Script {
  return (body, index) => adapter.reply(answers[index] ?? { text: 'No answer is left.' }, body);
}

/** Joins the deltas of one type. */
export function pieces(parts: readonly ModelPart[], type: ModelPart['type']): string {
  return parts.map((part) => (part.type === type ? part.text : '')).join('');
}
