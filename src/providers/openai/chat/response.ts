import type { FilePart, ReasoningPart, TextPart, ToolCallPart } from '../../../model/message.js';
import type { FinishReason, ModelResponse, Usage } from '../../../model/model.js';
import { readArguments, toUsage, uniqueId } from '../../shared/answer.js';
import { callsMissing, invalidAnswer } from '../../shared/error.js';
import { toProviderError } from '../../shared/failure.js';
import {
  defined,
  excerptOf,
  hasFields,
  isObject,
  objectsIn,
  present,
  textOr,
  type WireObject,
} from '../../shared/wire.js';
import { callsIn, choiceIn, completionIn, throwErrorIn, transcriptIn, usageIn } from './completion.js';
import { toMetadata } from './metadata.js';
import { blocksIn, reasoningIn } from './reasoning.js';
import { extraContentOf, splitThought } from './thoughts.js';

/** Keelson's finish reason for each finish reason of OpenAI and of compatible servers. */
const FINISH_REASONS = new Map<string, FinishReason>([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['end_turn', 'stop'],
  ['complete', 'stop'],
  ['stop_sequence', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['tool_use', 'tool-calls'],
  ['tool_call', 'tool-calls'],
  ['content_filter', 'content-filter'],
  ['sensitive', 'content-filter'],
  ['error', 'error'],
  ['abort', 'error'],
  ['network_error', 'error'],
  ['insufficient_system_resource', 'error'],
  ['function_call_filter', 'error'],
  ['malformed_function_call', 'error'],
  ['unexpected_tool_call', 'error'],
  ['too_many_tool_calls', 'error'],
]);

/** Returns the model response for a completion. The completion was either received whole or assembled from a stream. */
export function readCompletion(body: unknown, model: string): ModelResponse {
  const completion = completionIn(body);
  const choice = choiceIn(completion) ?? objectsIn(completion.choices)[0];
  throwErrorIn(completion, choice);
  if (!choice || (!isObject(choice.message) && choice.finish_reason !== 'content_filter')) {
    const problem = `expected a choice with a message, got ${excerptOf(completion)}`;
    throw invalidAnswer('openai', problem, { retryable: true, cause: completion });
  }
  // Azure sends no message if its content filter blocked the whole answer.
  const message = isObject(choice.message) ? choice.message : {};
  const calls = toolCalls(message, model);
  const content = [...reasoning(message, model), ...texts(message, model), ...images(message, model), ...calls];
  const finishReason = textOr(message.refusal) ? 'content-filter' : finishReasonOf(choice, calls.length > 0);
  if (finishReason === 'tool-calls' && content.every(({ type }) => type === 'reasoning')) {
    throw callsMissing('openai', completion);
  }
  return { content, finishReason, usage: usageOf(usageIn(completion, choice)), ...metadata(completion, choice) };
}

/**
 * Returns the reasoning of a message as parts. Keeps even empty reasoning next to tool calls, because DeepSeek refuses
 * such a message without the reasoning field.
 */
function reasoning(message: WireObject, model: string): readonly ReasoningPart[] {
  const { text, field } = reasoningIn(message, 'whole') ?? {};
  const blocks = blocksIn(message);
  const fields = hasFields(blocks) ? blocks : undefined;
  if (!fields && (text === undefined || (text === '' && callsIn(message).length === 0))) return [];
  // OpenRouter's `reasoning_details` contain all reasoning, so the plain text is not sent back.
  const metadata = { model, fields, field: blocks.reasoning_details ? undefined : field };
  return [{ type: 'reasoning', text: text ?? '', ...toMetadata(metadata) }];
}

function texts(message: WireObject, model: string): readonly TextPart[] {
  const text = splitThought(message, 'whole').text || transcriptIn(message);
  const refusal = textOr(message.refusal);
  const parts: TextPart[] = [];
  const extra = extraContentOf(message);
  const fields = extra && { extra_content: extra };
  if (text !== '') parts.push({ type: 'text', text, ...toMetadata({ model, fields }) });
  if (refusal !== '') parts.push({ type: 'text', text: refusal, ...toMetadata({ model, field: 'refusal' }) });
  return parts;
}

/** Returns the images that the model has generated, as file parts. */
function images(message: WireObject, model: string): readonly FilePart[] {
  return objectsIn(message.images).flatMap(({ image_url: image }) => {
    const data = isObject(image) ? textOr(image.url) : '';
    const mediaType = /^data:(image\/[\w.+-]+)/.exec(data)?.[1] ?? 'image/*';
    return data === '' ? [] : [{ type: 'file', data, mediaType, ...toMetadata({ model, field: 'images' }) }];
  });
}

/**
 * Returns the function calls of a message. Drops calls of any other type, because the request offered only functions.
 */
function toolCalls(message: WireObject, model: string): readonly ToolCallPart[] {
  const ids = new Set<string>();
  return callsIn(message).flatMap((call) => {
    if (!isObject(call.function)) return [];
    const name = textOr(call.function.name);
    if (name === '') throw invalidAnswer('openai', 'a tool call has no name', { cause: message });
    const id = uniqueId(call.id, ids);
    return [
      { type: 'tool-call' as const, id, name, ...readArguments(call.function.arguments), ...callMetadata(call, model) },
    ];
  });
}

/**
 * Returns the metadata of a tool call. Stores its unknown fields, such as Gemini's signatures, because the next request
 * must contain them.
 */
function callMetadata(call: WireObject, model: string): ReturnType<typeof toMetadata> {
  const { id, type, index, function: called, ...fields } = call;
  const known = present(fields);
  return toMetadata({ model, fields: hasFields(known) ? known : undefined });
}

/**
 * Returns the id, the model, the log probabilities and the citations that the server sent. The model may differ from
 * the requested one if the request used an alias.
 */
function metadata(completion: WireObject, choice: WireObject): Pick<ModelResponse, 'providerMetadata'> {
  const message = isObject(choice.message) ? choice.message : {};
  const openai = defined({
    id: textOr(completion.id) || undefined,
    model: textOr(completion.model) || undefined,
    logprobs: isObject(choice.logprobs) ? choice.logprobs : undefined,
    annotations: filled(message.annotations),
    citations: filled(completion.citations),
    search_results: filled(completion.search_results),
  });
  return hasFields(openai) ? { providerMetadata: { openai } } : {};
}

function filled(list: unknown): readonly unknown[] | undefined {
  return Array.isArray(list) && list.length > 0 ? list : undefined;
}

/**
 * Returns the finish reason. Tool calls count as `tool-calls` even if the server says `stop` or nothing. Throws if the
 * server stopped with an error, even after a part of the answer.
 */
function finishReasonOf({ finish_reason: reason }: WireObject, called: boolean): FinishReason {
  const received = textOr(reason);
  // Gemini adds details after a colon.
  const known = FINISH_REASONS.get(received.split(':', 1)[0]?.toLowerCase() ?? '') ?? 'other';
  if (known === 'error')
    throw toProviderError('openai', { error: `The server stopped its answer with finish reason "${received}".` });
  return called && (known === 'stop' || received === '') ? 'tool-calls' : known;
}

function usageOf(usage: WireObject = {}): Usage {
  return toUsage({
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    total: usage.total_tokens,
    cached: cachedTokens(usage),
    written: writtenTokens(usage),
    reasoning: detail(usage.completion_tokens_details, 'reasoning_tokens'),
  });
}

/**
 * Returns the number of input tokens that came from a cache. DeepSeek calls it `prompt_cache_hit_tokens`, Moonshot
 * `cached_tokens`, and Mistral `num_cached_tokens`.
 */
function cachedTokens(usage: WireObject): unknown {
  const { prompt_tokens_details: details, prompt_cache_hit_tokens: hits, cached_tokens: cached } = usage;
  return detail(details, 'cached_tokens') ?? hits ?? cached ?? usage.num_cached_tokens;
}

/**
 * Returns the number of input tokens that were written to a cache. OpenRouter calls it `cache_write_tokens`; DashScope
 * and LiteLLM call it `cache_creation_input_tokens`.
 */
function writtenTokens({ prompt_tokens_details: details, ...usage }: WireObject): unknown {
  const name = 'cache_creation_input_tokens';
  return detail(details, 'cache_write_tokens') ?? detail(details, name) ?? usage[name];
}

function detail(details: unknown, name: string): unknown {
  return isObject(details) ? details[name] : undefined;
}
