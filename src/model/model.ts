import type { JsonSchema, JsonValue } from '../internal/json.js';
import type { AssistantPart, Message, ProviderMetadata } from './message.js';

/** What a model is told of a tool. */
export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object schema. */
  readonly inputSchema: JsonSchema;
}

/** How a model should answer. What a provider has no such setting for is left out. */
export interface ModelSettings {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly stopSequences?: readonly string[] | undefined;
  readonly seed?: number | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
  readonly reasoningEffort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | undefined;
  /** Passed to the provider's request as it is, keyed by provider. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

/** Whether the model may (`auto`), must (`required`) or must not (`none`) call a tool, or which one it must call. */
export type ToolChoice = 'auto' | 'required' | 'none' | { readonly tool: string };

/** A piece of a streamed answer. Provisional: the response is what counts. */
export type ModelPart =
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'reasoning-delta'; readonly text: string }
  /** A piece of the arguments of a call, as JSON text. */
  | { readonly type: 'tool-input-delta'; readonly id: string; readonly name: string; readonly text: string };

/** One call of a model. */
export interface ModelRequest {
  /** The whole conversation, instructions first. Belongs to the run: read it, do not keep or change it. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly toolChoice?: ToolChoice | undefined;
  /** The JSON Schema that the answer's text must match, where the run has one. */
  readonly output?: { readonly schema: JsonSchema } | undefined;
  readonly settings?: ModelSettings | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Set where somebody listens: parts go here in order, before the response resolves. */
  readonly onPart?: ((part: ModelPart) => void) | undefined;
}

/** Tokens of one call, or the sum of several. Cached and reasoning tokens are parts of input and output, not added to them. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cachedInputTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
}

/** Why the model stopped. */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other';

/** Notes on an answer by name, such as an extension's id. */
export type Annotations = Readonly<Record<string, JsonValue>>;

/** One whole answer of a model. */
export interface ModelResponse {
  readonly content: readonly AssistantPart[];
  readonly finishReason: FinishReason;
  readonly usage: Usage;
  readonly providerMetadata?: ProviderMetadata | undefined;
  /** What parts noted about the answer: never sent to a model, on the run's result where the answer is its last. */
  readonly annotations?: Annotations | undefined;
}

/**
 * A language model. An object with this one method is a model.
 *
 * `generate` rejects where the call failed; it never resolves with half an answer. A rejection that carries a numeric
 * `status` and a `retryAfterMs` keeps them on the ModelError that the run makes of it.
 */
export interface Model {
  /** The model's name at its provider, such as `gpt-5-mini`. */
  readonly id: string;
  readonly provider?: string | undefined;
  /** Answers one request. Rejects where it cannot; never resolves with half an answer. */
  generate(request: ModelRequest): Promise<ModelResponse>;
}
