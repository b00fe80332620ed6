import { OptionInvalidError, PackageMissingError } from '../../errors.js';
import { anything, fullText, required, whole } from '../../internal/options/rules.js';
import { type OptionRules, validateOption, validateOptions } from '../../internal/options/validate.js';
import type { Model, ModelRequest, ModelResponse } from '../../model/model.js';
import { answerTo, type ProviderCall } from './call.js';
import { toProviderError } from './failure.js';

/** Options of one request, beside its body. */
export interface ClientRequestOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Record<string, string>;
  readonly maxRetries?: number;
}

/** A client's answer to one request. */
export interface ClientAnswer extends PromiseLike<unknown> {
  /** The answer with its HTTP response. */
  withResponse?(): Promise<{ readonly data: unknown; readonly response: HttpAnswer }>;
}

/** The parts of an HTTP response that are read beside its data. */
export interface HttpAnswer {
  readonly headers: {
    /** A header's value. */
    get(name: string): string | null;
  };
  /** The body, if it can be read as a stream of bytes. */
  readonly body?: unknown;
}

/** An answer that has begun. */
export interface Answer {
  readonly data: unknown;
  readonly response?: HttpAnswer;
}

/** How to reach a provider. */
export interface Connection<Client> {
  readonly client?: Client | undefined;
  readonly apiKey?: string | (() => Promise<string>) | undefined;
  readonly baseURL?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly maxRetries?: number | undefined;
}

/** A protocol that a provider's official client speaks. Each adapter implements one. */
export interface ClientProtocol<Client> {
  readonly provider: string;
  /** The response header that holds the id of the request. */
  readonly requestIdHeader: string;
  makeClient(connection: Connection<Client>): Promise<Client>;
  /** Builds the body once, and returns a function that sends it. */
  prepare(client: Client, request: ModelRequest): (options: ClientRequestOptions) => ClientAnswer;
  read(answer: Answer, request: ModelRequest): Promise<ModelResponse>;
}

/** The rules of the options that providers share. */
export const connectionRules = {
  client: anything,
  apiKey: {
    expected: 'a string, or a function that gives one',
    accepts: (value: unknown) => typeof value === 'string' || typeof value === 'function',
  },
  baseURL: {
    expected: 'a URL such as http://localhost:11434/v1',
    accepts: (value: unknown) => typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value),
  },
  headers: anything,
  maxRetries: whole(0),
};

/** Throws an OptionInvalidError for a model without an id, and for an option that is unknown or invalid. */
export function validateConnection(modelId: string, options: Connection<unknown>, rules: OptionRules): void {
  validateOption('modelId', modelId, required(fullText));
  validateOptions(options, rules);
  if (options.client && (options.apiKey !== undefined || options.baseURL !== undefined)) {
    throw new OptionInvalidError('client', '`client` has its own apiKey and baseURL: give the one, or the others');
  }
}

/** A model behind a client: the given one, or one that is made at the first call and kept. */
export function clientModel<Client extends { readonly maxRetries?: number | undefined }>(
  modelId: string,
  connection: Connection<Client>,
  protocol: ClientProtocol<Client>,
): Model {
  const { provider, requestIdHeader } = protocol;
  const { headers } = connection;
  let client: Client | Promise<Client> | undefined = connection.client;
  const prepare = async (request: ModelRequest): Promise<ProviderCall<Answer>> => {
    client ??= protocol.makeClient(connection);
    const made = await client;
    const send = protocol.prepare(made, request);
    const { signal } = request;
    const options = { maxRetries: 0, ...(signal && { signal }), ...(headers && { headers: { ...headers } }) };
    return {
      provider,
      maxRetries: connection.maxRetries ?? made.maxRetries ?? 2,
      send: () => begun(send(options)),
      read: protocol.read,
      requestIdOf: ({ response }) => response?.headers.get(requestIdHeader),
    };
  };
  return { id: modelId, provider, generate: (request) => answerTo(request, prepare) };
}

async function begun(answer: ClientAnswer): Promise<Answer> {
  return answer.withResponse ? await answer.withResponse() : { data: await answer };
}

/** Makes a client from its package, imported at the first call: only users of the model need to install it. */
export async function clientFrom<Package, Client>(
  { provider, name }: { readonly provider: string; readonly name: string },
  load: () => Promise<Package>,
  make: (loaded: Package) => Client,
): Promise<Client> {
  let loaded: Package;
  try {
    loaded = await load();
  } catch (error) {
    throw new PackageMissingError(name, error);
  }
  try {
    return make(loaded);
  } catch (error) {
    throw toProviderError(provider, error);
  }
}
