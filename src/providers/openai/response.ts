import type { FilePart, ReasoningPart, TextPart, ToolCallPart } from '../../model/message.js';
import type { FinishReason, ModelResponse, Usage } from '../../model/model.js';
import { readArguments, toUsage, uniqueId } from '../shared/answer.js';
import { callsMissing, invalidAnswer } from '../shared/error.js';
import { toProviderError } from '../shared/failure.js';
import {
  defined,
  excerptOf,
  hasFields,
  isObject,
  objectsIn,
  present,
  textOr,
  type WireObject,
} from '../shared/wire.js';
import { callsIn, choiceIn, completionIn, throwErrorIn, transcriptIn, usageIn } from './completion.js';
import { toMetadata } from './metadata.js';
import { blocksIn, reasoningIn } from './reasoning.js';
import { extraContentOf, splitThought } from './thoughts.js';

/** In the words of the protocol, and of servers that have their own. */
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
]);

/** The response in a completion's JSON: one that came whole, or one put together from a stream. */
export function readCompletion(body: unknown, model: string): ModelResponse {
  const completion = completionIn(body);
  const choice = choiceIn(completion) ?? objectsIn(completion.choices)[0];
  throwErrorIn(completion, choice);
  if (!choice || !isObject(choice.message)) {
    const problem = `it has no message but is ${excerptOf(completion)}`;
    throw invalidAnswer('openai', problem, { retryable: true, cause: completion });
  }
  const { message } = choice;
  const calls = toolCalls(message, model);
  const content = [...reasoning(message, model), ...texts(message, model), ...images(message, model), ...calls];
  const finishReason = textOr(message.refusal) ? 'content-filter' : finishReasonOf(choice, calls.length > 0);
  if (finishReason === 'tool-calls' && content.every(({ type }) => type === 'reasoning')) {
    throw callsMissing('openai', completion);
  }
  return { content, finishReason, usage: usageOf(usageIn(completion, choice)), ...metadata(completion, choice) };
}

/** Empty reasoning counts beside tool calls: DeepSeek refuses a history where such a message lacks the field. */
function reasoning(message: WireObject, model: string): readonly ReasoningPart[] {
  const { text, field } = reasoningIn(message) ?? {};
  const blocks = blocksIn(message);
  const fields = hasFields(blocks) ? blocks : undefined;
  if (!fields && (text === undefined || (text === '' && callsIn(message).length === 0))) return [];
  // OpenRouter's details are all of it: the text beside them does not go back.
  const metadata = { model, fields, field: blocks.reasoning_details ? undefined : field };
  return [{ type: 'reasoning', text: text ?? '', ...toMetadata(metadata) }];
}

function texts(message: WireObject, model: string): readonly TextPart[] {
  const text = splitThought(message).text || transcriptIn(message);
  const refusal = textOr(message.refusal);
  const parts: TextPart[] = [];
  const extra = extraContentOf(message);
  const fields = extra && { extra_content: extra };
  if (text !== '') parts.push({ type: 'text', text, ...toMetadata({ model, fields }) });
  if (refusal !== '') parts.push({ type: 'text', text: refusal, ...toMetadata({ model, field: 'refusal' }) });
  return parts;
}

/** Pictures that the model made. */
function images(message: WireObject, model: string): readonly FilePart[] {
  return objectsIn(message.images).flatMap(({ image_url: image }) => {
    const data = isObject(image) ? textOr(image.url) : '';
    const mediaType = /^data:(image\/[\w.+-]+)/.exec(data)?.[1] ?? 'image/*';
    return data === '' ? [] : [{ type: 'file', data, mediaType, ...toMetadata({ model, field: 'images' }) }];
  });
}

/** Calls of tools that are no functions are left out: none was offered. */
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

/** Fields beside a call that the protocol does not know, such as Gemini's signatures: the next request must carry them. */
function callMetadata(call: WireObject, model: string): ReturnType<typeof toMetadata> {
  const { id, type, index, function: called, ...fields } = call;
  const known = present(fields);
  return toMetadata({ model, fields: hasFields(known) ? known : undefined });
}

/**
 * What the server says beside its answer: its id, the model that gave it, since an alias may stand for another one each
 * month, the likelihood of each token, and where the answer comes from.
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

/** Some servers say `stop`, or nothing, beside tool calls. An answer that the server gave up is none, however much of it came. */
function finishReasonOf({ finish_reason: reason }: WireObject, called: boolean): FinishReason {
  const word = textOr(reason);
  // Gemini tells more after a colon.
  const known = FINISH_REASONS.get(word.split(':', 1)[0]?.toLowerCase() ?? '') ?? 'other';
  if (known === 'error') throw toProviderError('openai', { error: `The server broke off its answer: "${word}".` });
  return called && (known === 'stop' || word === '') ? 'tool-calls' : known;
}

function usageOf(usage: WireObject = {}): Usage {
  return toUsage({
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    total: usage.total_tokens,
    cached: cachedTokens(usage),
    reasoning: detail(usage.completion_tokens_details, 'reasoning_tokens'),
  });
}

/** DeepSeek and Moonshot have names of their own. */
function cachedTokens(usage: WireObject): unknown {
  const { prompt_tokens_details: details, prompt_cache_hit_tokens: hits, cached_tokens: cached } = usage;
  return detail(details, 'cached_tokens') ?? hits ?? cached;
}

function detail(details: unknown, name: string): unknown {
  return isObject(details) ? details[name] : undefined;
}
