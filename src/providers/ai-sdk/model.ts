import { describeValue, OptionInvalidError } from '../../errors.js';
import { isObject } from '../shared/wire.js';

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

const VERSIONS = ['v2', 'v3', 'v4'];
const EXAMPLE = "Pass one that a provider made, such as `openai('gpt-5')` of @ai-sdk/openai.";

/** Throws an OptionInvalidError where a value is no language model of the AI SDK. */
export function checkModel(model: unknown): void {
  if (!isObject(model)) {
    const name = typeof model === 'string' ? `the name ${describeValue(model)}` : describeValue(model);
    throw new OptionInvalidError('model', `it is ${name}, no language model. ${EXAMPLE}`);
  }
  const { specificationVersion: version, doGenerate, doStream, modelId } = model;
  if (typeof doGenerate !== 'function' || typeof doStream !== 'function' || typeof modelId !== 'string') {
    throw new OptionInvalidError('model', `it cannot generate and stream text. ${EXAMPLE}`);
  }
  if (typeof version !== 'string' || !VERSIONS.includes(version)) {
    const problem = `its specification is ${describeValue(version)}, and v2, v3 and v4 are known.`;
    throw new OptionInvalidError('model', `${problem} Install a version of its provider that has one of these.`);
  }
}
