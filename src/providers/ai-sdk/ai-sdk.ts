import { anything, callable, having, mapOf, required, text, whole } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { Model, ModelRequest } from '../../model/model.js';
import { answerTo, type ProviderCall } from '../shared/call.js';
import { ProviderError } from '../shared/error.js';
import { throughPauses } from '../shared/pauses.js';
import { isObject, type WireObject } from '../shared/wire.js';
import { requestIdIn, toFailure } from './failure.js';
import type { AiSdkDownloader } from './file.js';
import { type AiSdkModel, checkModel } from './model.js';
import { type CallTarget, familyOf, toCallOptions } from './request.js';
import { readResult } from './response.js';
import { readStream } from './stream.js';
import { withFilesTold } from './unsupported.js';

export { ProviderError, type ProviderFailure } from '../shared/error.js';
export type { AiSdkDownload, AiSdkDownloader } from './file.js';
export type { AiSdkModel, AiSdkUrls } from './model.js';

/** What goes with each call of the model. */
export interface AiSdkOptions {
  /** Sent with each request, by providers that speak HTTP. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How often a request that found no answer is sent again: after 408, 409, 429, 5xx and a lost connection, and not once
   * an answer has begun. Waits as long as the server asks, but fails at once where that is over a minute. Default: 2.
   * Say 0 where a lifecycle retries.
   */
  readonly maxRetries?: number | undefined;
  /**
   * Tools that the provider defines, by name, such as `{ web_search: openai.tools.webSearch() }`. Mostly it runs them
   * itself; calls that it leaves to this side are run by the agent's tool of that name.
   */
  readonly providerTools?: Readonly<Record<string, object>> | undefined;
  /**
   * Loads pictures and files that the model does not read from their address. Nothing is fetched without it, since an
   * address may come from anybody, and lead into your own network.
   */
  readonly download?: AiSdkDownloader | undefined;
}

/**
 * A model made of a language model of the AI SDK, specification v2, v3 or v4: any of its providers, gateways and wrapped
 * models. Streams where somebody listens.
 *
 * @example
 * import { openai } from '@ai-sdk/openai';
 *
 * const model = aiSdk(openai('gpt-5'));
 */
export function aiSdk(model: AiSdkModel, options: AiSdkOptions = {}): Model {
  checkModel(model);
  validateOptions(options, rules);
  const prepare = (request: ModelRequest) => toCall(request, { ...options, model });
  return {
    id: model.modelId,
    provider: familyOf(model.provider),
    generate: (request) => throughPauses(request, (asked) => withFilesTold(asked, (told) => answerTo(told, prepare))),
  };
}

const rules = {
  headers: anything,
  maxRetries: whole(0),
  providerTools: mapOf(
    having('a tool of a provider, with an `id`; tools that run here belong to the agent', { id: required(text) }),
  ),
  download: callable,
} satisfies OptionTable<AiSdkOptions>;

async function toCall(request: ModelRequest, target: CallTarget & AiSdkOptions): Promise<ProviderCall<WireObject>> {
  const { model, maxRetries = 2 } = target;
  const options = await toCallOptions(request, target);
  return {
    provider: familyOf(model.provider),
    maxRetries,
    send: () => send(() => (request.onPart ? model.doStream(options) : model.doGenerate(options)), model),
    read: async (answer, own) => readResult(own.onPart ? await readStream(answer.stream, model, own) : answer, model),
    requestIdOf: ({ response }) => requestIdIn(isObject(response) ? response.headers : undefined),
  };
}

async function send(call: () => PromiseLike<object>, { provider }: AiSdkModel): Promise<WireObject> {
  try {
    const answer = await call();
    if (isObject(answer)) return answer;
  } catch (error) {
    throw toFailure(familyOf(provider), error);
  }
  throw new ProviderError(familyOf(provider), 'The model must resolve with an object.');
}
