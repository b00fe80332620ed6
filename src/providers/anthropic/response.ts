import { randomIds } from '../../internal/ids.js';
import type { JsonValue } from '../../internal/json.js';
import type { AssistantPart, ReasoningPart, ToolCallPart, ToolResultPart } from '../../model/message.js';
import type { FinishReason, ModelResponse, Usage } from '../../model/model.js';
import { ProviderError } from '../shared/error.js';
import { defined, isObject, objectsIn, parseJson, textOr, type WireObject } from '../shared/wire.js';
import { toMetadata } from './metadata.js';

const FINISH_REASONS = new Map<unknown, FinishReason>([
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool-calls'],
  ['refusal', 'content-filter'],
]);

/** The response in a message: one that came whole, or one put together from a stream. */
export function readMessage(message: WireObject, model: string): ModelResponse {
  const content = new BlockReader(model, message.container).read(objectsIn(message.content));
  const called = content.some((part) => part.type === 'tool-call' && !part.providerExecuted);
  const { stop_reason: reason } = message;
  if (reason === 'tool_use' && !called) {
    const problem = 'The answer cannot be read: it is said to call tools, and calls none.';
    throw new ProviderError('anthropic', problem, { retryable: true, cause: message });
  }
  const finishReason = FINISH_REASONS.get(reason) ?? 'other';
  return {
    content,
    finishReason: called && finishReason === 'stop' ? 'tool-calls' : finishReason,
    usage: usageOf(isObject(message.usage) ? message.usage : {}),
    ...metadata(message),
  };
}

/** What the server says beside its answer; in `usage`, what it counts besides. */
function metadata({ type, role, content, ...fields }: WireObject): Pick<ModelResponse, 'providerMetadata'> {
  const known = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return known.length > 0 ? { providerMetadata: { anthropic: Object.fromEntries(known) } } : {};
}

class BlockReader {
  private readonly ids = new Set<string>();
  /** The names of the calls that the provider ran. */
  private readonly names = new Map<unknown, string>();

  constructor(
    private readonly model: string,
    private readonly container: unknown,
  ) {}

  /**
   * A block of another kind says something to the API alone, such as where another model took over, or what stands in
   * place of all before it: it goes back as it came, in an empty thought that nobody shows.
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
    if (name === '') {
      throw new ProviderError('anthropic', 'The answer cannot be read: a tool call has no name.', { cause: called });
    }
    const id = textOr(given) !== '' && !this.ids.has(textOr(given)) ? textOr(given) : randomIds.next('call');
    this.ids.add(id);
    // Who called is worth a word only where it was not the model itself.
    const by = isObject(caller) && caller.type === 'direct' ? undefined : caller;
    return { type: 'tool-call', id, name, ...readInput(input), ...toMetadata(this.model, { ...fields, caller: by }) };
  }

  /** Its type goes along, so that it can go back as what it was, and where it runs, since it may not have ended yet. */
  private serverCall({ id: given, name: called, input, ...fields }: WireObject): ToolCallPart | undefined {
    const id = textOr(given);
    const name = textOr(called);
    if (id === '' || name === '') return undefined;
    this.names.set(id, name);
    const call = { type: 'tool-call', id, name, ...readInput(input), providerExecuted: true } as const;
    const container = isObject(this.container) ? this.container.id : undefined;
    return { ...call, ...toMetadata(this.model, { ...fields, container }) };
  }

  /** Goes back as it came, so the block is kept whole. */
  private serverResult(block: WireObject): ToolResultPart {
    const { tool_use_id: id, content } = block;
    const isError = block.is_error === true || (isObject(content) && textOr(content.type).endsWith('_error'));
    const name = this.names.get(id) ?? textOr(block.type).replace(/_tool_result$/, '');
    const text = typeof content === 'string' ? content : JSON.stringify(content ?? null);
    const result = { type: 'tool-result', id: textOr(id), name, content: text } as const;
    return { ...result, structured: block as JsonValue, ...(isError && { isError }) };
  }
}

/** Arguments come as text where they were streamed. Nothing at all stands for no arguments. */
function readInput(given: unknown): { readonly input: unknown; readonly invalidInput?: string } {
  if (typeof given !== 'string') return { input: given ?? {} };
  if (given.trim() === '') return { input: {} };
  const input = parseJson(given);
  return input === undefined ? { input: {}, invalidInput: given } : { input: input ?? {} };
}

/** Anthropic counts what it read from its cache, and wrote to it, beside the input: here they are parts of it. */
function usageOf(usage: WireObject): Usage {
  const cached = count(usage.cache_read_input_tokens);
  const inputTokens =
    (count(usage.input_tokens) ?? 0) + (count(usage.cache_creation_input_tokens) ?? 0) + (cached ?? 0);
  const outputTokens = count(usage.output_tokens) ?? 0;
  const { output_tokens_details: details } = usage;
  return {
    inputTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    ...defined({
      cachedInputTokens: cached,
      reasoningTokens: isObject(details) ? count(details.thinking_tokens) : undefined,
    }),
  };
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
