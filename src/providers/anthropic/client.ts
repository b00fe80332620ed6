import { PackageMissingError } from '../../errors.js';
import { checkKey, environment } from '../shared/browser.js';
import type { ClientAnswer, ClientRequestOptions } from '../shared/client.js';
import type { Connection } from '../shared/connection.js';
import { toProviderError } from '../shared/failure.js';
import { defined } from '../shared/wire.js';

/**
 * The members of an `@anthropic-ai/sdk` client that the adapter uses. The clients for Bedrock and Vertex have them too.
 */
export interface AnthropicClient {
  readonly baseURL?: string | undefined;
  readonly maxRetries?: number | undefined;
  readonly messages: {
    /** Sends one request to the Messages API. */
    create(body: object, options?: ClientRequestOptions): ClientAnswer;
  };
}

/**
 * Creates a client with the `@anthropic-ai/sdk` package. The package is loaded here, because only users of this
 * provider install it.
 */
export async function makeClient({ apiKey, baseURL }: Connection<AnthropicClient>): Promise<AnthropicClient> {
  const secrets = isAnthropic(baseURL) ? {} : withoutEnvironment(apiKey);
  checkKey({
    factory: 'anthropic',
    client: 'Anthropic',
    variable: 'ANTHROPIC_API_KEY',
    hasKey: apiKey !== undefined,
    isOtherServer: !isAnthropic(baseURL),
  });
  const { Anthropic } = await loadPackage();
  try {
    return new Anthropic({ ...secrets, dangerouslyAllowBrowser: true, ...defined({ apiKey, baseURL }) });
  } catch (error) {
    throw toProviderError('anthropic', error);
  }
}

async function loadPackage() {
  try {
    return await import('@anthropic-ai/sdk');
  } catch (error) {
    throw new PackageMissingError('@anthropic-ai/sdk', error);
  }
}

/** True if requests with these options go to Anthropic's own API. */
export function isAnthropicApi({ client, baseURL }: Connection<AnthropicClient>): boolean {
  if (client !== undefined) return client.baseURL !== undefined && isAnthropic(client.baseURL);
  const url = baseURL ?? environment().ANTHROPIC_BASE_URL;
  return !url || (URL.canParse(url) && isAnthropic(url));
}

/** True if the credentials from the environment may be sent to a server with this base URL. */
function isAnthropic(baseURL: string | undefined): boolean {
  return baseURL === undefined || /(^|\.)anthropic\.com$/.test(new URL(baseURL).hostname);
}

/**
 * Returns client options with which no credentials from the environment reach another server. `apiKey` is a placeholder
 * if none was given, because the client requires a key.
 *
 * Each header in `ANTHROPIC_CUSTOM_HEADERS` is set to null, so that the client omits it. If the application passed its
 * key as a string, `Authorization` and `x-api-key` contain this key instead.
 */
function withoutEnvironment(given: Connection<AnthropicClient>['apiKey']) {
  const lines = environment().ANTHROPIC_CUSTOM_HEADERS?.split('\n') ?? [];
  const names = lines.filter((line) => line.includes(':')).map((line) => line.slice(0, line.indexOf(':')).trim());
  const key = typeof given === 'string' ? given : undefined;
  const defaultHeaders = names.map((name) => [name, (key !== undefined && keyHeader(name, key)) || null]);
  return { apiKey: 'none', authToken: null, defaultHeaders: Object.fromEntries(defaultHeaders) };
}

function keyHeader(name: string, key: string): string | undefined {
  if (name.toLowerCase() === 'authorization') return `Bearer ${key}`;
  return name.toLowerCase() === 'x-api-key' ? key : undefined;
}
