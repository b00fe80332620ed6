import { callable, having, oneOf, required, text } from '../../internal/options/rules.js';
import { validateOption } from '../../internal/options/validate.js';

/** The part of an AI SDK language model that the adapter uses. Specifications v2, v3 and v4 fit. */
export interface AiSdkModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  /** The provider's name, such as `openai.responses`. */
  readonly provider: string;
  readonly modelId: string;
  /** The URLs that the provider reads itself, by media type. */
  readonly supportedUrls?: AiSdkUrls | PromiseLike<AiSdkUrls> | undefined;
  /** Makes a model call and resolves with the complete response. */
  doGenerate(options: object): PromiseLike<object>;
  /** Makes a model call and resolves with a stream of its parts. */
  doStream(options: object): PromiseLike<{ readonly stream: object }>;
}

/** URL patterns by media type. */
export type AiSdkUrls = Readonly<Record<string, readonly RegExp[]>>;

const EXAMPLE = "such as `openai('gpt-5')` of @ai-sdk/openai";

const rules = {
  specificationVersion: required(oneOf('v2', 'v3', 'v4')),
  modelId: required(text),
  doGenerate: required(callable),
  doStream: required(callable),
};

/** Throws an OptionInvalidError if the value is not an AI SDK language model. */
export function checkModel(model: unknown): void {
  validateOption('model', model, required(having(`a language model of the AI SDK, ${EXAMPLE}`, rules)));
}
