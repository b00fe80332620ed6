import type { JsonSchema, JsonValue } from '../internal/json.js';
import type { AssistantPart, Message, ProviderMetadata } from './message.js';

/** The description of a tool for a model. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object schema. */
  readonly inputSchema: JsonSchema;
  /**
   * True if the model sees the tool only after the provider's own search has found it. For a model with `findsTools`.
   */
  readonly deferred?: boolean | undefined;
}

/** Settings of a model call. Each provider ignores the settings that it does not support. */
export interface ModelSettings {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly reasoningEffort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | undefined;
  /** Sets cache breakpoints for providers that need them. The lifecycle `promptCache()` sets this option. */
  readonly promptCache?: { readonly ttl: '5m' | '1h' } | undefined;
  /** Fields that are passed unchanged to the provider's request, keyed by provider. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/**
 * The model may call a tool (`auto`), must call a tool (`required`), must not call a tool (`none`), or must call the
 * named tool.
 */
export type ToolChoice = 'auto' | 'required' | 'none' | { readonly tool: string };

/** A delta of a streamed response. Provisional: only the final response counts. */
export type ModelPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  /** A piece of a tool call's arguments, which are a JSON string. */
  | { readonly type: 'tool-input-delta'; readonly id: string; readonly name: string; readonly text: string };

/** The input of one model call. */
export interface ModelRequest {
  /** All messages, instructions first. The array belongs to the run: do not change or keep it. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice | undefined;
  /** The JSON Schema that the response's text must match, if the run has an output schema. */
  readonly output?: { readonly schema: JsonSchema } | undefined;
  readonly settings?: ModelSettings | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The longest time between two parts of a streamed response, in milliseconds. Default: 300,000. */
  readonly idleMs?: number | undefined;
  /** Set if the run has a stream listener. Call it with each delta in order, before the response resolves. */
  readonly onPart?: ((part: ModelPart) => void) | undefined;
}

/**
 * Token counts of one model call, or a sum. Input tokens include tokens read from and written to a cache. Output tokens
 * include reasoning tokens.
 */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  /**
   * The number of tokens in the conversation after this call. Set if the provider made several requests for one
   * response: then it counts only the last request. Absent in sums.
   */
  readonly contextTokens?: number | undefined;
}

/** The reason why the model stopped. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other';

/** Notes on a response, keyed by a name such as an extension's id. */
export type Annotations = Readonly<Record<string, JsonValue>>;

/** A complete response of a model. */
export interface ModelResponse {
  readonly content: readonly AssistantPart[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly providerMetadata?: ProviderMetadata | undefined;
  /**
   * Notes of lifecycles on the response. Never sent to a model. The result of a run includes the notes of its last
   * response.
   */
  readonly annotations?: Annotations | undefined;
}

/**
 * A language model: any object with an `id` and a `generate` method.
 *
 * `generate` rejects if the call failed, and never resolves with a partial response. The run wraps the rejection in a
 * ModelError, which keeps a numeric `status` and `retryAfterMs`.
 */
export interface Model {
  /** The model's name at its provider, such as `gpt-5-mini`. */
  readonly id: string;
  readonly provider?: string | undefined;
  /** True if the provider searches among the tools with `deferred`. The lifecycle `toolSearch()` uses this search. */
  readonly findsTools?: boolean | undefined;
  /**
   * Makes one model call. Rejects if the call failed; never resolves with a partial response.
   *
   * To copy the request, name its signal: `{ ...request, signal: request.signal }`. The signal may be a getter of the
   * prototype, which a spread does not copy.
   */
  generate(request: ModelRequest): Promise<ModelResponse>;
}
