import type { Logger } from '../../internal/logger.js';
import { boolean, logger } from '../../internal/options/rules.js';
import type { OptionTable } from '../../internal/options/validate.js';
import type { Model } from '../../model/model.js';
import { begun, clientModel } from '../shared/client.js';
import { connectionRules, outputMode, validateConnection } from '../shared/connection.js';
import { receiveEvents } from '../shared/event-stream.js';
import { type OutputMode, StructuredOutput } from '../shared/output/output-mode.js';
import { throughPauses } from '../shared/pauses.js';
import { type AnthropicClient, isAnthropicApi, makeClient } from './client.js';
import { abilitiesOf } from './models.js';
import { withOwnArguments } from './property-names.js';
import { toWireRequest } from './request.js';
import { readMessage } from './response.js';
import { StreamedMessage } from './stream.js';

export { PackageMissingError } from '../../errors.js';
export { ProviderError } from '../shared/error.js';
export type { AnthropicClient } from './client.js';

/** Options of {@link anthropic}. */
export interface AnthropicOptions {
  /**
   * An existing client to use instead of `apiKey` and `baseURL`. Clients for Bedrock, Vertex and Foundry work too.
   * Keelson turns off the retries of the client and retries itself; see `maxRetries`.
   */
  readonly client?: AnthropicClient | undefined;
  /**
   * The API key. Default: the credentials that the client finds in the environment, `ANTHROPIC_API_KEY` first.
   *
   * These credentials are not sent to another server that you set with `baseURL`. If such a server needs a key, set
   * this option.
   */
  readonly apiKey?: string | (() => Promise<string>) | undefined;
  /**
   * Base URL of a server that implements Anthropic's Messages API. Default: the environment variable
   * `ANTHROPIC_BASE_URL`, then Anthropic.
   */
  readonly baseURL?: string | undefined;
  /**
   * Receives a warning for each tool that requests leave out because Anthropic would refuse it. Default: the console.
   */
  readonly logger?: Logger | undefined;
  /** HTTP headers sent with each request, such as `anthropic-beta`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How often a failed request is retried. Default: the client's own setting, which is 2. Retries status 408, 409, 429
   * and 5xx, the same errors inside a stream, and a lost connection, but not an answer that has begun.
   *
   * Waits before a retry as long as the server asks, but fails at once if the server asks for more than a minute. Use 0
   * if a lifecycle retries.
   */
  readonly maxRetries?: number | undefined;
  /**
   * If true, the lifecycle `toolSearch()` uses the tool search of Anthropic's API instead of its own. Default: true at
   * Anthropic's own API for Claude 4.5 and newer, except Haiku. Set it for another server that supports
   * `tool_search_tool_bm25_20251119`.
   */
  readonly findsTools?: boolean | undefined;
  /**
   * How the model is asked for structured output. Default: `native`. If the provider refuses this mode, the model uses
   * the next one from then on: `after-tools`, then `tool`, then the schema in the instructions.
   */
  readonly outputMode?: OutputMode | undefined;
}

const rules = { ...connectionRules, logger, findsTools: boolean, outputMode } satisfies OptionTable<AnthropicOptions>;

/**
 * Creates a model for Anthropic's Messages API. Imports the `@anthropic-ai/sdk` package at the first call.
 *
 * Always requests a stream, even if nobody listens. Otherwise the connection would carry no data until a long answer
 * ends, and would time out.
 *
 * @example
 * const model = anthropic('claude-sonnet-5');
 */
export function anthropic(modelId: string, options: AnthropicOptions = {}): Model {
  validateConnection(modelId, options, rules);
  // The client skips events without a name, which some servers send, so Keelson parses the body itself.
  const isOwnClient = options.client === undefined;
  const model = clientModel<AnthropicClient>(modelId, options, {
    provider: 'anthropic',
    requestIdHeader: 'request-id',
    makeClient,
    prepare(client, request) {
      const body = toWireRequest(request, modelId, options.logger);
      return {
        send: (requestOptions) => begun(client.messages.create(body, requestOptions)),
        async read(answer, { idle, onPart = () => idle.hear() }) {
          const message = new StreamedMessage(onPart);
          await receiveEvents(answer, { provider: 'anthropic', isOwnClient, idle }, (event) => message.take(event));
          return withOwnArguments(readMessage(message.whole(), modelId), request.tools);
        },
      };
    },
  });
  const structured = new StructuredOutput(options.outputMode ?? 'native');
  const { findsTools = abilitiesOf(modelId).findsTools && isAnthropicApi(options) } = options;
  return {
    ...model,
    findsTools: findsTools || undefined,
    generate: (request) => structured.ask(request, (sent) => throughPauses(sent, model.generate)),
  };
}
