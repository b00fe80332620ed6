import { callable, having, oneOf, required, text } from '../../internal/options/rules.js';
import { validateOption } from '../../internal/options/validate.js';

/** What is needed of a language model of the AI SDK: those of specification v2, v3 and v4 fit. */
export interface AiSdkModel {
  readonly specificationVersion: 'v2' | 'v3' | 'v4';
  /** The name of its provider, such as `openai.responses`. */
  readonly provider: string;
  readonly modelId: string;
  /** By media type, the addresses that the provider reads itself. */
  readonly supportedUrls?: AiSdkUrls | PromiseLike<AiSdkUrls> | undefined;
  /** Answers whole. */
  doGenerate(options: object): PromiseLike<object>;
  /** Answers in parts. */
  doStream(options: object): PromiseLike<{ readonly stream: object }>;
}

/** By media type, patterns of addresses. */
export type AiSdkUrls = Readonly<Record<string, readonly RegExp[]>>;

const EXAMPLE = "such as `openai('gpt-5')` of @ai-sdk/openai";

const rules = {
  specificationVersion: required(oneOf('v2', 'v3', 'v4')),
  modelId: required(text),
  doGenerate: required(callable),
  doStream: required(callable),
};

/** Throws an OptionInvalidError unless a value is a language model of the AI SDK. */
export function checkModel(model: unknown): void {
  validateOption('model', model, required(having(`a language model of the AI SDK, ${EXAMPLE}`, rules)));
}
