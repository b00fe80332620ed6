import type { JsonValue } from '../../internal/json.js';
import type { AssistantPart, ReasoningPart, ToolCallPart, ToolResultPart } from '../../model/message.js';
import type { FinishReason, ModelResponse, Usage } from '../../model/model.js';
import { count, readArguments, toUsage, uniqueId } from '../shared/answer.js';
import { PLAIN_IDS } from '../shared/call-ids.js';
import { callsMissing, invalidAnswer } from '../shared/error.js';
import { hasFields, isObject, objectsIn, present, textOr, type WireObject } from '../shared/wire.js';
import { toMetadata } from './metadata.js';

const FINISH_REASONS = new Map<unknown, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool-calls'],
  ['refusal', 'content-filter'],
]);

/**
 * Returns the model response for a message of the API. The message was either received whole or assembled from a
 * stream.
 */
export function readMessage(message: WireObject, model: string): ModelResponse {
  const content = new BlockReader(model, message.container).read(objectsIn(message.content));
  const called = content.some((part) => part.type === 'tool-call' && !part.providerExecuted);
  const { stop_reason: reason } = message;
  if (reason === 'tool_use' && !called) {
    throw callsMissing('anthropic', message);
  }
  const finishReason = FINISH_REASONS.get(reason) ?? 'other';
  return {
    content,
    finishReason: called && finishReason === 'stop' ? 'tool-calls' : finishReason,
    usage: usageOf(isObject(message.usage) ? message.usage : {}),
    ...metadata(message),
  };
}

/**
 * Returns the metadata of the response: all fields of the message except its type, role and content, such as its id and
 * the server's usage counts.
 */
function metadata({ type, role, content, ...fields }: WireObject): Pick<ModelResponse, 'providerMetadata'> {
  const anthropic = present(fields);
  return hasFields(anthropic) ? { providerMetadata: { anthropic } } : {};
}

class BlockReader {
  private readonly ids = new Set<string>();
  /** The names of the server tools that the model called, by call id. */
  private readonly names = new Map<unknown, string>();

  constructor(
    private readonly model: string,
    private readonly container: unknown,
  ) {}

  /**
   * Converts content blocks into message parts. A block that only the API understands, such as a compaction, is stored
   * in an empty reasoning part, so that it can be sent back unchanged.
   */
  read(blocks: readonly WireObject[]): readonly AssistantPart[] {
    return blocks.flatMap((block) => this.part(block) ?? []);
  }

  private part(block: WireObject): AssistantPart | undefined {
    const type = textOr(block.type);
    if (type === 'text') return this.text(block);
    if (type === 'thinking' || type === 'redacted_thinking') return this.thought(block);
    if (type === 'tool_use') return this.call(block);
    if (type.endsWith('_tool_use')) return this.serverCall(block);
    if (type.endsWith('_tool_result')) return this.serverResult(block);
    return type === '' ? undefined : { type: 'reasoning', text: '', ...toMetadata(this.model, { block }) };
  }

  private text({ type, text, ...fields }: WireObject): AssistantPart | undefined {
    if (textOr(text) === '') return undefined;
    return { type: 'text', text: textOr(text), ...toMetadata(this.model, fields) };
  }

  private thought({ type, thinking, signature, ...fields }: WireObject): ReasoningPart {
    const kept = type === 'thinking' ? { signature: textOr(signature), ...fields } : { type, ...fields };
    return { type: 'reasoning', text: textOr(thinking), ...toMetadata(this.model, kept) };
  }

  private call({ type, id: given, name: called, input, caller, ...fields }: WireObject): ToolCallPart {
    const name = textOr(called);
    if (name === '') throw invalidAnswer('anthropic', 'a tool call has no name', { cause: called });
    const id = uniqueId(given, this.ids);
    // `caller` is kept only if code or a server tool made the call, and not the model.
    const indirectCaller = isObject(caller) && caller.type === 'direct' ? undefined : caller;
    return {
      type: 'tool-call',
      id,
      name,
      ...readArguments(input),
      ...toMetadata(this.model, { ...fields, caller: indirectCaller }, !PLAIN_IDS.accepted.test(id)),
    };
  }

  /**
   * Converts the call of a server tool, which Anthropic runs itself. Stores the type of the block and the container,
   * because the next request needs both.
   */
  private serverCall({ id: given, name: called, input, ...fields }: WireObject): ToolCallPart | undefined {
    const id = textOr(given);
    const name = textOr(called);
    if (id === '' || name === '') return undefined;
    this.names.set(id, name);
    const call = { type: 'tool-call', id, name, ...readArguments(input), providerExecuted: true } as const;
    const container = isObject(this.container) ? this.container.id : undefined;
    return { ...call, ...toMetadata(this.model, { ...fields, container }) };
  }

  /** Converts the result of a server tool. Stores the whole block, because it must be sent back unchanged. */
  private serverResult(block: WireObject): ToolResultPart {
    const { tool_use_id: id, content } = block;
    const isError = block.is_error === true || (isObject(content) && textOr(content.type).endsWith('_error'));
    const name = this.names.get(id) ?? textOr(block.type).replace(/_tool_result$/, '');
    const text = typeof content === 'string' ? content : JSON.stringify(content ?? null);
    const structured = block as JsonValue;
    const result: ToolResultPart = { type: 'tool-result', id: textOr(id), name, content: text, structured };
    return isError ? { ...result, isError } : result;
  }
}

/**
 * Returns the token counts. Adds the tokens read from and written to the cache to the input tokens, because Anthropic's
 * `input_tokens` excludes them.
 *
 * `iterations` lists the model calls that Anthropic made for this response. The last one determines `contextTokens`.
 */
function usageOf(usage: WireObject): Usage {
  const { cache_read_input_tokens: cached, cache_creation_input_tokens: created, output_tokens_details } = usage;
  const counts = toUsage({
    input: inputOf(usage),
    output: usage.output_tokens,
    cached,
    written: created,
    reasoning: isObject(output_tokens_details) ? output_tokens_details.thinking_tokens : undefined,
  });
  const iterations = objectsIn(usage.iterations);
  const last = iterations.at(-1);
  if (last === undefined || iterations.length < 2) return counts;
  return { ...counts, contextTokens: inputOf(last) + (count(last.output_tokens) ?? 0) };
}

function inputOf({
  input_tokens: input,
  cache_creation_input_tokens: created,
  cache_read_input_tokens: cached,
}: WireObject): number {
  return (count(input) ?? 0) + (count(created) ?? 0) + (count(cached) ?? 0);
}
