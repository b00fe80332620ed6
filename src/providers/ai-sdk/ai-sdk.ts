import { anything, callable, having, mapOf, required, text, whole } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { Model, ModelRequest } from '../../model/model.js';
import { answerTo, type ProviderCall } from '../shared/call.js';
import { outputMode } from '../shared/connection.js';
import { ProviderError } from '../shared/error.js';
import { type OutputMode, StructuredOutput } from '../shared/output/output-mode.js';
import { throughPauses } from '../shared/pauses.js';
import { isObject, type WireObject } from '../shared/wire.js';
import { requestIdIn, toFailure } from './failure.js';
import { type AiSdkDownloader, withFileNotes } from './file.js';
import { type AiSdkModel, checkModel, familyOf, takesBoth } from './model.js';
import { type CallTarget, toCallOptions } from './request.js';
import { readResult } from './response.js';
import { readStream } from './stream.js';
import { withReadArguments } from './tools.js';

export { ProviderError } from '../shared/error.js';
export type { AiSdkDownloader } from './file.js';
export type { AiSdkModel } from './model.js';

/** Options of {@link aiSdk}, applied to each model call. */
export interface AiSdkOptions {
  /** HTTP headers sent with each request, if the provider uses HTTP. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How often a failed request is retried. Default: 2. Retries status 408, 409, 429 and 5xx, and a lost connection, but
   * not an answer that has begun.
   *
   * Waits before a retry as long as the server asks, but fails at once if the server asks for more than a minute. Use 0
   * if a lifecycle retries.
   */
  readonly maxRetries?: number | undefined;
  /**
   * Tools that the provider defines, by name, such as `{ web_search: openai.tools.webSearch() }`. The provider usually
   * runs these tools itself. If the provider returns a call instead, the agent's tool with the same name runs it.
   */
  readonly providerTools?: Readonly<Record<string, object>> | undefined;
  /**
   * Downloads images and files whose URLs the model cannot read itself. Without this callback, nothing is downloaded,
   * because a URL in a message may be untrusted and point into your own network.
   */
  readonly download?: AiSdkDownloader | undefined;
  /**
   * How the model is asked for structured output. Default: `native` for models of OpenAI, Anthropic and xAI,
   * `after-tools` for others. If the provider refuses this mode, the model uses the next one from then on:
   * `after-tools`, then `tool`, then the schema in the instructions.
   */
  readonly outputMode?: OutputMode | undefined;
}

/**
 * Creates a model from a language model of the AI SDK, specification v2, v3 or v4. Providers, gateways and wrapped
 * models all work.
 * Streams if the run has a listener.
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
  const generate = (request: ModelRequest) =>
    throughPauses(request, (turn) => withFileNotes(turn, (sent) => answerTo(sent, prepare)));
  const structured = new StructuredOutput(options.outputMode ?? (takesBoth(model) ? 'native' : 'after-tools'));
  return {
    id: model.modelId,
    provider: familyOf(model.provider),
    generate: (request) => structured.ask(request, generate),
  };
}

const rules = {
  headers: anything,
  maxRetries: whole(0),
  providerTools: mapOf(
    having('a provider tool with an `id`; pass tools with an `execute` function to the agent instead', {
      id: required(text),
    }),
  ),
  download: callable,
  outputMode,
} satisfies OptionTable<AiSdkOptions>;

async function toCall(request: ModelRequest, target: CallTarget & AiSdkOptions): Promise<ProviderCall<WireObject>> {
  const { model, maxRetries = 2 } = target;
  const options = await toCallOptions(request, target);
  return {
    provider: familyOf(model.provider),
    maxRetries,
    send: () => send(() => (request.onPart ? model.doStream(options) : model.doGenerate(options)), model),
    async read(answer, own) {
      const whole = own.onPart ? await readStream(answer.stream, model, own) : answer;
      return withReadArguments(readResult(whole, model, target.providerTools), request, target);
    },
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
  throw new ProviderError(
    familyOf(provider),
    '`doGenerate` and `doStream` of the AI SDK model must resolve with an object.',
  );
}
