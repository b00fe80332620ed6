import type { Awaitable } from '../../internal/promise.js';
import type { Model, ModelRequest, ModelResponse } from '../../model/model.js';
import { answerTo, type ProviderCall } from './call.js';
import type { Connection } from './connection.js';
import type { WatchedRequest } from './idle.js';
import { defined } from './wire.js';

/** Options that a client accepts for one request. */
export interface ClientRequestOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  readonly maxRetries?: number;
}

/** The promise that a provider's official client returns for one request. */
export interface ClientAnswer extends PromiseLike<unknown> {
  /** Resolves with the parsed body and the HTTP response. */
  withResponse?(): Promise<{ readonly data: unknown; readonly response: HttpAnswer }>;
}

/** The headers and body of an HTTP response. */
interface HttpAnswer {
  readonly headers: {
    /** Returns a header's value, or null. */
    get(name: string): string | null;
  };
  /** The body of the response. Read only if it is an async iterable of bytes. */
  readonly body?: unknown;
}

/** A response whose headers have arrived. */
export interface Answer {
  readonly data: unknown;
  readonly response?: HttpAnswer;
}

/** The API of a provider: how to create its client, and how to build its requests. */
export interface ClientProtocol<Client> {
  readonly provider: string;
  /** The name of the response header that has the id of the request. */
  readonly requestIdHeader: string;
  makeClient(connection: Connection<Client>): Awaitable<Client>;
  /** Builds the body of a request. Called once, even if the request is retried. */
  prepare(client: Client, request: ModelRequest): Awaitable<PreparedCall>;
}

/** A request whose body is built. It can be sent several times. */
export interface PreparedCall {
  /** Sends the request. Called once for each attempt. */
  send(options: ClientRequestOptions): Promise<Answer>;
  read(answer: Answer, request: WatchedRequest): Promise<ModelResponse>;
}

/**
 * Creates a model that sends its requests with a client. Uses the client from the options, or creates one at the first
 * call.
 */
export function clientModel<Client extends { readonly maxRetries?: number | undefined }>(
  modelId: string,
  connection: Connection<Client>,
  protocol: ClientProtocol<Client>,
): Model {
  const { provider, requestIdHeader } = protocol;
  const { headers } = connection;
  let client: Awaitable<Client> | undefined = connection.client;
  const prepare = async (request: ModelRequest): Promise<ProviderCall<Answer>> => {
    client ??= protocol.makeClient(connection);
    const ready = await client;
    const prepared = await protocol.prepare(ready, request);
    const options = defined({ maxRetries: 0, signal: request.signal, headers: headers && { ...headers } });
    return {
      provider,
      maxRetries: connection.maxRetries ?? ready.maxRetries ?? 2,
      send: () => prepared.send(options),
      read: (answer, own) => prepared.read(answer, own),
      requestIdOf: ({ response }) => response?.headers.get(requestIdHeader),
    };
  };
  return { id: modelId, provider, generate: (request) => answerTo(request, prepare) };
}

/** Resolves when the headers of the response have arrived, with the body still to be read. */
export async function begun(answer: ClientAnswer): Promise<Answer> {
  return answer.withResponse ? await answer.withResponse() : { data: await answer };
}
