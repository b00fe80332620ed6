import { invalidOption } from '../../internal/options/validate.js';
import { checkKey, environment } from '../shared/browser.js';
import type { Answer, ClientAnswer, ClientRequestOptions } from '../shared/client.js';
import type { Connection } from '../shared/connection.js';
import { defined, isObject, parseJson, type WireObject } from '../shared/wire.js';
import { isOpenAI, type OpenAIClient } from './client.js';

const OPENAI_URL = 'https://api.openai.com/v1';

/** Creates a client that sends its requests with `fetch`. See docs/decisions/0198-openai-by-fetch.md. */
export function makeClient(connection: Connection<OpenAIClient>): OpenAIClient {
  const server = new OpenAIServer(connection);
  const pathOf = (id: string) => `responses/${encodeURIComponent(id)}`;
  return {
    baseURL: server.url,
    chat: { completions: { create: (body, options) => server.call('chat/completions', body, options) } },
    responses: {
      create: (body, options) => server.call('responses', body, options),
      retrieve: (id, _query, options) => server.call(pathOf(id), undefined, options),
      cancel: (id, options) => server.call(`${pathOf(id)}/cancel`, {}, options),
    },
  };
}

class OpenAIServer {
  readonly url: string;
  private readonly key: Connection<OpenAIClient>['apiKey'];
  private readonly headers: { readonly [name: string]: string | undefined };

  /** Sends the key, the organization and the project from the environment only to OpenAI. */
  constructor({ apiKey, baseURL }: Connection<OpenAIClient>) {
    const variables = isOpenAI(baseURL) ? environment() : {};
    this.url = (baseURL ?? (variables.OPENAI_BASE_URL?.trim() || OPENAI_URL)).replace(/\/+$/, '');
    this.key = apiKey ?? variables.OPENAI_API_KEY?.trim();
    this.headers = { 'openai-organization': variables.OPENAI_ORG_ID, 'openai-project': variables.OPENAI_PROJECT_ID };
    checkKey({
      factory: 'openai',
      client: 'OpenAI',
      variable: 'OPENAI_API_KEY',
      hasKey: apiKey !== undefined,
      isOtherServer: !isOpenAI(baseURL),
    });
    if (this.key || !isOpenAI(this.url)) return;
    throw invalidOption('apiKey', 'a string, or OPENAI_API_KEY must be set in the environment', this.key);
  }

  /** Sends a request. Uses POST with a body, and GET without one. */
  call(path: string, body: object | undefined, options: ClientRequestOptions = {}): ClientAnswer {
    const answer = this.send(path, body as WireObject | undefined, options);
    return Object.assign(answer, { withResponse: () => answer });
  }

  /** Sends a request, and reads the response body as a string. Leaves the body of a stream unread. */
  private async send(
    path: string,
    body: WireObject | undefined,
    { headers, signal }: ClientRequestOptions,
  ): Promise<Required<Answer>> {
    const response = await fetch(`${this.url}/${path}`, {
      headers: await this.headersWith(headers),
      signal: signal ?? null,
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!response.ok) throw await failureOf(response);
    return { response, data: body?.stream === true ? undefined : await response.text() };
  }

  private async headersWith(given: ClientRequestOptions['headers'] = {}): Promise<Headers> {
    const key = typeof this.key === 'function' ? await this.key() : this.key;
    const authorization = key && `Bearer ${key}`;
    const own = { accept: 'application/json', 'content-type': 'application/json', authorization, ...this.headers };
    const headers = new Headers(defined(own) as Record<string, string>);
    for (const [name, value] of Object.entries(given)) headers.set(name, value);
    return headers;
  }
}

/** The error for a response with an error status. Has the same fields as an error of the `openai` package. */
class ResponseError extends Error {
  readonly status: number;
  readonly headers: Headers;
  readonly requestID: string | null;

  constructor(
    { status, headers }: Response,
    readonly error: unknown,
  ) {
    super(`The server answered with status ${status}.`);
    this.status = status;
    this.headers = headers;
    this.requestID = headers.get('x-request-id');
  }
}

/**
 * Returns the error for a response with an error status. Servers other than OpenAI may send errors without an `error`
 * field, and bodies that are not JSON.
 */
async function failureOf(response: Response): Promise<ResponseError> {
  const text = await response.text().catch(() => '');
  const body = parseJson(text) ?? text;
  return new ResponseError(response, (isObject(body) && body.error) || body || 'status code (no body)');
}
