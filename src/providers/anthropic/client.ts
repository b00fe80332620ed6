import { browserOptions } from '../shared/browser.js';
import { type ClientAnswer, type ClientRequestOptions, type Connection, clientFrom } from '../shared/client.js';
import { defined } from '../shared/wire.js';

/** What is needed of a client of the `@anthropic-ai/sdk` package: `Anthropic` fits, and those for Bedrock and Vertex. */
export interface AnthropicClient {
  readonly baseURL?: string | undefined;
  readonly maxRetries?: number | undefined;
  readonly messages: {
    /** Makes one request. */
    create(body: object, options?: ClientRequestOptions): ClientAnswer;
  };
}

/** Makes the client of the official package. */
export function makeClient({ apiKey, baseURL }: Connection<AnthropicClient>): Promise<AnthropicClient> {
  const secrets = isAnthropic(baseURL) ? {} : withoutEnvironment(apiKey);
  const browser = browserOptions({
    ...{ factory: 'anthropic', client: 'Anthropic', variable: 'ANTHROPIC_API_KEY' },
    ...{ hasKey: apiKey !== undefined, isOtherServer: !isAnthropic(baseURL) },
  });
  return clientFrom(
    { provider: 'anthropic', name: '@anthropic-ai/sdk' },
    () => import('@anthropic-ai/sdk'),
    ({ Anthropic }) => new Anthropic({ ...secrets, ...browser, ...defined({ apiKey, baseURL }) }),
  );
}

/** Whether a base URL leads to whom the environment's key is meant for. */
function isAnthropic(baseURL: string | undefined): boolean {
  return baseURL === undefined || /(^|\.)anthropic\.com$/.test(new URL(baseURL).hostname);
}

/**
 * What the environment holds is Anthropic's: no other server is shown it. The client wants a key, so one that says nothing.
 * Its headers are put aside by name, or by the key that was given where they would take its place.
 */
function withoutEnvironment(given: Connection<AnthropicClient>['apiKey']) {
  const { process } = globalThis as { process?: { env?: { readonly [name: string]: string | undefined } } };
  const lines = process?.env?.ANTHROPIC_CUSTOM_HEADERS?.split('\n') ?? [];
  const names = lines.filter((line) => line.includes(':')).map((line) => line.slice(0, line.indexOf(':')).trim());
  const key = typeof given === 'string' ? given : undefined;
  const defaultHeaders = names.map((name) => [name, (key !== undefined && keyHeader(name, key)) || null]);
  return { apiKey: 'none', authToken: null, defaultHeaders: Object.fromEntries(defaultHeaders) };
}

function keyHeader(name: string, key: string): string | undefined {
  if (name.toLowerCase() === 'authorization') return `Bearer ${key}`;
  return name.toLowerCase() === 'x-api-key' ? key : undefined;
}
