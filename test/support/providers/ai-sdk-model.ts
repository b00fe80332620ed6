import { type AiSdkModel, type AiSdkOptions, aiSdk } from 'keelson/ai-sdk';
import type { ModelPart, ModelRequest, ModelResponse } from '../../../src/model/model.js';

type Version = AiSdkModel['specificationVersion'];

/** A scripted outcome of a call: a complete result, the parts of a stream, or an error. */
export type ScriptedResult = object | readonly unknown[] | Error;

/** An AI SDK language model with scripted results, the last one repeated. Records the options of each call. */
export interface ScriptedModel extends AiSdkModel {
  readonly calls: Record<string, unknown>[];
  /** How often a stream was cancelled. */
  cancelled: number;
}

/** Returns usage in the form of a specification version. */
export function usageIn(version: Version): object {
  return version === 'v2'
    ? { inputTokens: 3, outputTokens: 2, totalTokens: 5 }
    : { inputTokens: { total: 3 }, outputTokens: { total: 2 } };
}

/** Returns a finish reason in the form of a specification version. */
export function reasonIn(version: Version, reason: string): unknown {
  return version === 'v2' ? reason : { unified: reason, raw: reason };
}

/** Creates a scripted language model. An array of parts is streamed, and a stream that ends with `hang` stays open. */
export function scriptedModel(
  version: Version,
  results: readonly ScriptedResult[],
  fields: Partial<AiSdkModel> = {},
): ScriptedModel {
  const calls: ScriptedModel['calls'] = [];
  const next = async (options: object) => {
    calls.push(options as Record<string, unknown>);
    const result = results[Math.min(calls.length, results.length) - 1];
    if (result instanceof Error) throw result;
    return result as object;
  };
  const model: ScriptedModel = {
    specificationVersion: version,
    provider: 'anthropic.messages',
    modelId: 'scripted',
    supportedUrls: {},
    ...fields,
    calls,
    cancelled: 0,
    doGenerate: async (options) => {
      const result = await next(options);
      return { finishReason: reasonIn(version, 'stop'), usage: usageIn(version), warnings: [], ...result };
    },
    doStream: async (options) => ({ stream: streamOf((await next(options)) as unknown[], () => model.cancelled++) }),
  };
  return model;
}

function streamOf(parts: readonly unknown[], onCancel: () => void): ReadableStream<unknown> {
  return new ReadableStream({
    start(controller) {
      for (const part of parts) {
        if (part === 'hang') return;
        if (part instanceof Error) return controller.error(part);
        controller.enqueue(part);
      }
      controller.close();
    },
    cancel: onCancel,
  });
}

/** Returns the last part of a stream. */
export function finish(version: Version, reason: string, more: object = {}): object {
  return { type: 'finish', finishReason: reasonIn(version, reason), usage: usageIn(version), ...more };
}

/** The outcome of one call. */
export interface ScriptedExchange {
  readonly response: ModelResponse | undefined;
  readonly error: unknown;
  readonly parts: readonly ModelPart[];
  readonly model: ScriptedModel;
}

const hello: ModelRequest = { messages: [{ role: 'user', content: 'Hello' }], tools: [] };

/** Calls a scripted model once, with streaming if its first result is an array. */
export async function call(
  model: ScriptedModel,
  request: Partial<ModelRequest> = {},
  options: AiSdkOptions & { readonly streamed?: boolean } = {},
): Promise<ScriptedExchange> {
  const parts: ModelPart[] = [];
  const { streamed = false, ...rest } = options;
  const listening = streamed ? { onPart: (part: ModelPart) => void parts.push(part) } : {};
  try {
    const made = aiSdk(model, { maxRetries: 0, ...rest });
    return { response: await made.generate({ ...hello, ...listening, ...request }), error: undefined, parts, model };
  } catch (error) {
    return { response: undefined, error, parts, model };
  }
}
