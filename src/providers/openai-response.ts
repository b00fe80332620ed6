import { randomIds } from '../internal/ids.js';
import type { ReasoningPart, TextPart, ToolCallPart } from '../model/message.js';
import type { FinishReason, ModelResponse, Usage } from '../model/model.js';
import { toMetadata } from './openai-metadata.js';
import { ProviderError } from './provider-error.js';
import { toProviderError } from './provider-failure.js';
import { defined, isObject, objectsIn, textOr, type WireObject } from './wire.js';

const FINISH_REASONS = new Map<unknown, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
  ['content_filter', 'content-filter'],
  ['error', 'error'],
]);

/** The response in a completion's JSON: one that came whole, or one put together from a stream. */
export function readCompletion(body: unknown, model: string): ModelResponse {
  const completion = completionIn(body);
  const choice = objectsIn(completion.choices)[0];
  const error = completion.error ?? choice?.error;
  if (error) throw toProviderError('openai', { error });
  if (!choice || !isObject(choice.message)) throw invalid('it has no message', { retryable: true, cause: completion });
  const { message } = choice;
  const calls = toolCalls(message, model);
  const content = [...reasoning(message, model), ...texts(message, model), ...calls];
  const finishReason = textOr(message.refusal) ? 'content-filter' : finishReasonOf(choice, calls.length > 0);
  return { content, finishReason, usage: usageOf(completion, choice), ...origin(completion) };
}

/** The text of the parts of a content that are text: a string, or a list of parts. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map((part) => (part.type === 'text' ? textOr(part.text) : ''))
    .join('');
}

/** The name and the text of the field that holds a message's reasoning: servers differ, and some send it under both names. */
export function reasoningIn(message: WireObject): { readonly field: string; readonly text: string } | undefined {
  const fields = ['reasoning_content', 'reasoning'].filter((name) => typeof message[name] === 'string');
  const field = fields.find((name) => message[name] !== '') ?? fields[0];
  return field === undefined ? undefined : { field, text: textOr(message[field]) };
}

/** The client gives the body as text where the server did not call it JSON. */
function completionIn(body: unknown): WireObject {
  if (isObject(body)) return body;
  const text = textOr(body).trim();
  if (text === '') throw invalid('it is empty', { retryable: true, cause: body });
  try {
    const parsed: unknown = JSON.parse(text);
    if (isObject(parsed)) return parsed;
  } catch {
    // Told below.
  }
  throw invalid(`it is no JSON object but "${text.slice(0, 80)}". Check the baseURL`, { cause: body });
}

function invalid(problem: string, failure: { retryable?: boolean; cause: unknown }): ProviderError {
  return new ProviderError('openai', `The answer cannot be read: ${problem}.`, failure);
}

/** Empty reasoning counts beside tool calls: DeepSeek refuses a history where such a message lacks the field. */
function reasoning(message: WireObject, model: string): readonly ReasoningPart[] {
  const found = reasoningIn(message);
  const details = objectsIn(message.reasoning_details);
  if (details.length > 0) {
    const metadata = toMetadata({ model, fields: { reasoning_details: details } });
    return [{ type: 'reasoning', text: found?.text ?? '', ...metadata }];
  }
  if (!found || (found.text === '' && objectsIn(message.tool_calls).length === 0)) return [];
  return [{ type: 'reasoning', text: found.text, ...toMetadata({ model, field: found.field }) }];
}

function texts(message: WireObject, model: string): readonly TextPart[] {
  const text = contentText(message.content);
  const refusal = textOr(message.refusal);
  const parts: TextPart[] = [];
  if (text !== '') parts.push({ type: 'text', text });
  if (refusal !== '') parts.push({ type: 'text', text: refusal, ...toMetadata({ model, field: 'refusal' }) });
  return parts;
}

/** Calls of tools that are no functions are left out: none was offered. */
function toolCalls(message: WireObject, model: string): readonly ToolCallPart[] {
  const ids = new Set<string>();
  return objectsIn(message.tool_calls).flatMap((call) => {
    if (!isObject(call.function)) return [];
    const name = textOr(call.function.name);
    if (name === '') throw invalid('a tool call has no name', { cause: message });
    const id = uniqueId(call.id, ids);
    return [
      { type: 'tool-call' as const, id, name, ...readArguments(call.function.arguments), ...callMetadata(call, model) },
    ];
  });
}

function uniqueId(given: unknown, taken: Set<string>): string {
  const id = textOr(given);
  const unique = id !== '' && !taken.has(id) ? id : randomIds.next('call');
  taken.add(unique);
  return unique;
}

/** Arguments come as JSON text; some servers send the object itself. No text at all stands for no arguments. */
function readArguments(given: unknown): { readonly input: unknown; readonly invalidInput?: string } {
  if (typeof given !== 'string') return { input: given ?? {} };
  if (given.trim() === '') return { input: {} };
  try {
    return { input: JSON.parse(given) };
  } catch {
    return { input: {}, invalidInput: given };
  }
}

/** Fields beside a call that the protocol does not know, such as Gemini's signatures: the next request must carry them. */
function callMetadata(call: WireObject, model: string): ReturnType<typeof toMetadata> {
  const { id, type, index, function: called, ...fields } = call;
  return Object.keys(fields).length > 0 ? toMetadata({ model, fields }) : {};
}

/** The server's id of the answer, and the model that gave it: an alias may stand for another one each month. */
function origin(completion: WireObject): Pick<ModelResponse, 'providerMetadata'> {
  const openai = defined({ id: textOr(completion.id) || undefined, model: textOr(completion.model) || undefined });
  return Object.keys(openai).length > 0 ? { providerMetadata: { openai } } : {};
}

/** Some servers say `stop`, or nothing, beside tool calls. */
function finishReasonOf({ finish_reason: reason }: WireObject, called: boolean): FinishReason {
  if (called && (reason === 'stop' || !reason)) return 'tool-calls';
  return FINISH_REASONS.get(reason) ?? 'other';
}

function usageOf(completion: WireObject, choice: WireObject): Usage {
  const usage = [completion.usage, choice.usage].find(isObject) ?? {};
  const inputTokens = count(usage.prompt_tokens) ?? 0;
  const outputTokens = count(usage.completion_tokens) ?? 0;
  return {
    inputTokens,
    outputTokens,
    totalTokens: count(usage.total_tokens) ?? inputTokens + outputTokens,
    ...defined({
      cachedInputTokens: count(detail(usage.prompt_tokens_details, 'cached_tokens') ?? usage.prompt_cache_hit_tokens),
      reasoningTokens: count(detail(usage.completion_tokens_details, 'reasoning_tokens')),
    }),
  };
}

function detail(details: unknown, name: string): unknown {
  return isObject(details) ? details[name] : undefined;
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
