import type { FinishReason, ModelResponse, Usage } from '../../../../model/model.js';
import { toUsage } from '../../../shared/answer.js';
import { interrupted, invalidAnswer, ProviderError, unreadableBody } from '../../../shared/error.js';
import { toProviderError } from '../../../shared/failure.js';
import {
  defined,
  excerptOf,
  hasFields,
  isObject,
  objectsIn,
  parseJson,
  textOr,
  type WireObject,
} from '../../../shared/wire.js';
import { openaiOf } from '../metadata.js';
import type { ResponseSource } from './hosted.js';
import { partsOf, sourcesOf } from './items.js';

/** Returns the model response for a response of the API. It was either received whole or assembled from a stream. */
export function readResponse(body: unknown, source: ResponseSource): ModelResponse {
  const response = responseIn(body);
  throwErrorIn(response);
  const output = objectsIn(response.output);
  const content = partsOf(output, source);
  const isCalling = content.some((part) => part.type === 'tool-call' && !part.providerExecuted);
  const finishReason = finishReasonOf(response, isCalling);
  return { content, finishReason, usage: usageOf(response.usage), ...metadataOf(response, content) };
}

/** Returns the JSON object of a response. Throws if the body is not a response. */
export function responseIn(body: unknown): WireObject {
  const parsed = typeof body === 'string' ? parseJson(body) : body;
  if (!isObject(parsed)) throw unreadableBody('openai', body);
  if (parsed.error || Array.isArray(parsed.output) || parsed.status !== undefined) return parsed;
  const problem = `expected a response with \`output\`, got ${excerptOf(parsed)}`;
  throw invalidAnswer('openai', problem, { retryable: true, cause: parsed });
}

function throwErrorIn(response: WireObject): void {
  const { error, status } = response;
  if (error) throw toProviderError('openai', { error });
  if (status === 'failed')
    throw toProviderError('openai', { error: 'The server stopped its answer without a reason.' });
  if (status === 'cancelled')
    throw new ProviderError('openai', 'The server reports that the response was cancelled.', { cause: response });
  if (status === 'in_progress' || status === 'queued') throw interrupted('openai');
}

/**
 * Returns the finish reason. A refusal by the model counts only if the response has no tool call, because the run
 * continues with the call.
 */
function finishReasonOf({ incomplete_details: details, output }: WireObject, isCalling: boolean): FinishReason {
  const reason = isObject(details) ? textOr(details.reason) : '';
  if (reason === 'max_output_tokens') return 'length';
  if (reason === 'content_filter') return 'content-filter';
  if (isCalling) return 'tool-calls';
  if (reason !== '') return 'other';
  const contents = objectsIn(output).flatMap(({ content }) => objectsIn(content));
  return contents.some(({ type }) => type === 'refusal') ? 'content-filter' : 'stop';
}

function usageOf(given: unknown): Usage {
  const usage = isObject(given) ? given : {};
  const { input_tokens_details: input, output_tokens_details: output } = usage;
  return toUsage({
    input: usage.input_tokens,
    output: usage.output_tokens,
    total: usage.total_tokens,
    cached: isObject(input) ? input.cached_tokens : undefined,
    written: isObject(input) ? input.cache_write_tokens : undefined,
    reasoning: isObject(output) ? output.reasoning_tokens : undefined,
  });
}

function metadataOf(response: WireObject, content: ModelResponse['content']): Pick<ModelResponse, 'providerMetadata'> {
  const { incomplete_details: details } = response;
  const kept = content.map(openaiOf);
  const logprobs = kept.flatMap((metadata) => objectsIn(metadata.logprobs));
  const openai = defined({
    id: textOr(response.id) || undefined,
    model: textOr(response.model) || undefined,
    service_tier: textOr(response.service_tier) || undefined,
    incomplete_reason: (isObject(details) && textOr(details.reason)) || undefined,
    annotations: filled(kept.flatMap((metadata) => objectsIn(metadata.annotations))),
    sources: filled(sourcesOf(objectsIn(response.output))),
    logprobs: logprobs.length > 0 ? { content: logprobs } : undefined,
  });
  return hasFields(openai) ? { providerMetadata: { openai } } : {};
}

function filled<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length > 0 ? list : undefined;
}
