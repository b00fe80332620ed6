import { callable, having, oneOf, required, text } from '../../internal/options/rules.js';
import { validateOption } from '../../internal/options/validate.js';

/** The members of an AI SDK language model that the adapter uses. Models of specifications v2, v3 and v4 have them. */
export interface AiSdkModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  /** The provider's name, such as `openai.responses`. */
  readonly provider: string;
  readonly modelId: string;
  /** The URLs that the provider can read itself, by media type. Other files must be downloaded first. */
  readonly supportedUrls?: AiSdkUrls | PromiseLike<AiSdkUrls> | undefined;
  /** Makes a model call and resolves with the complete response. */
  doGenerate(options: object): PromiseLike<object>;
  /** Makes a model call and resolves with a stream of the parts of its response. */
  doStream(options: object): PromiseLike<{ readonly stream: object }>;
}

/** Patterns of the URLs that a provider can read itself, by media type. */
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

/**
 * Returns the key under which a provider's options and metadata are stored, such as `openai` for `openai.responses`.
 */
export function familyOf(provider: string): string {
  return provider.split('.', 1)[0] ?? provider;
}

/** True for a model of OpenAI, also if Azure serves it. */
export function isOpenAI({ provider }: Pick<AiSdkModel, 'provider'>): boolean {
  return /^(openai|azure)\b(?!.*anthropic)/.test(provider);
}

/** True for a model that accepts an output schema together with tools, also behind a gateway. */
export function takesBoth(model: AiSdkModel): boolean {
  const { provider, modelId } = model;
  return isOpenAI(model) || isClaude(model) || /^xai\b/.test(provider) || /^(?:openai|xai|x-ai)\//.test(modelId);
}

/**
 * True for a model of Anthropic. Also true at Bedrock, at Vertex AI, or at a gateway that passes tools on to
 * Anthropic's API.
 */
export function isClaude({ provider, modelId }: AiSdkModel): boolean {
  return /anthropic/.test(provider) || /anthropic|claude/i.test(modelId);
}
