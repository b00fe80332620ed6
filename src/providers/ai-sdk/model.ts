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

/** Returns the key of provider options and metadata: `openai` for `openai.responses`. */
export function familyOf(provider: string): string {
  return provider.split('.', 1)[0] ?? provider;
}

/** True for a model of OpenAI, even at Azure. */
export function isOpenAI({ provider }: Pick<AiSdkModel, 'provider'>): boolean {
  return /^(openai|azure)\b(?!.*anthropic)/.test(provider);
}

/** True for a model that accepts an output schema together with tools, even behind a gateway. */
export function takesBoth(model: AiSdkModel): boolean {
  const { provider, modelId } = model;
  return isOpenAI(model) || isClaude(model) || /^xai\b/.test(provider) || /^(?:openai|xai|x-ai)\//.test(modelId);
}

/** True for a model of Anthropic, even at Bedrock, Vertex AI or a gateway that passes tools on to Anthropic's API. */
export function isClaude({ provider, modelId }: AiSdkModel): boolean {
  return /anthropic/.test(provider) || /anthropic|claude/i.test(modelId);
}
