import type { OptionTable } from '../../internal/options/validate.js';
import type { Model } from '../../model/model.js';
import { clientModel, connectionRules, validateConnection } from '../shared/client.js';
import { eventsOf } from '../shared/event-stream.js';
import { throughPauses } from '../shared/pauses.js';
import { type AnthropicClient, makeClient } from './client.js';
import { toWireRequest } from './request.js';
import { readMessage } from './response.js';
import { readStream } from './stream.js';

export { PackageMissingError } from '../../errors.js';
export type { ClientAnswer, ClientRequestOptions, HttpAnswer } from '../shared/client.js';
export { ProviderError, type ProviderFailure } from '../shared/error.js';
export type { AnthropicClient } from './client.js';

/** How to reach the provider. */
export interface AnthropicOptions {
  /**
   * A client that is already made, in place of `apiKey` and `baseURL`; those for Bedrock, Vertex and Foundry fit too. Its
   * own retries are not used: see `maxRetries`.
   */
  readonly client?: AnthropicClient | undefined;
  /**
   * Default: what the client finds in the environment, `ANTHROPIC_API_KEY` first. A `baseURL` given here that is not
   * Anthropic's is shown nothing of it: where such a server wants a key, give it here too.
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined;
  /** A server that speaks Anthropic's Messages API. Default: `ANTHROPIC_BASE_URL`, then Anthropic. */
  readonly baseURL?: string | undefined;
  /** Sent with each request, such as `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How often a request that found no answer is sent again: after 408, 409, 429, 5xx, also inside a stream, and a lost
   * connection, and not once an answer has begun. Waits as long as the server asks, but fails at once where that is over
   * a minute. Default: the client's own, which is 2. Say 0 where a lifecycle retries.
   */
  readonly maxRetries?: number | undefined;
}

const rules = connectionRules satisfies OptionTable<AnthropicOptions>;

/**
 * A model behind Anthropic's Messages API. The `@anthropic-ai/sdk` package is loaded at the first call. Answers are always
 * streamed, also where nobody listens: a long one outlives a connection on which nothing comes.
 *
 * @example
 * const model = anthropic('claude-sonnet-5');
 */
export function anthropic(modelId: string, options: AnthropicOptions = {}): Model {
  validateConnection(modelId, options, rules);
  const model = clientModel<AnthropicClient>(modelId, options, {
    provider: 'anthropic',
    requestIdHeader: 'request-id',
    makeClient,
    prepare(client, request) {
      const body = toWireRequest(request, modelId);
      return (asked) => client.messages.create(body, asked);
    },
    async read(answer, { onPart = () => {} }) {
      // The client skips events without a name, which some servers send.
      const events = eventsOf(answer, 'anthropic', options.client === undefined);
      return readMessage(await readStream(events, onPart), modelId);
    },
  });
  return { ...model, generate: (request) => throughPauses(request, model.generate) };
}
