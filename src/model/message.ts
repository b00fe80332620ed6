import type { JsonValue } from '../internal/json.js';

/**
 * Data that a provider attached to a part, keyed by provider. It is sent back with the part, since signatures and item
 * ids require it.
 */
export type ProviderMetadata = Readonly<Record<string, unknown>>;

/** A piece of text. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  /**
   * True for a text about the model's progress that is not part of the answer. {@link textOf} omits it if the message
   * also has other text.
   */
  readonly commentary?: boolean | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** The model's reasoning before its answer. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** An image: a URL (`https:` or `data:`), a base64 string or bytes. */
export interface ImagePart {
  readonly type: 'image';
  readonly image: string | Uint8Array;
  /** The media type, such as `image/png`; required for a base64 string and bytes. */
  readonly mediaType?: string | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** A file: a URL, a base64 string or bytes. */
export interface FilePart {
  readonly type: 'file';
  readonly data: string | Uint8Array;
  /** The media type, such as `application/pdf`. */
  readonly mediaType: string;
  readonly filename?: string | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** A model's request to call a tool. */
export interface ToolCallPart {
  readonly type: 'tool-call';
  /** Unique in the response. The tool result has the same id. */
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /**
   * The arguments from the person who approved the call with a change. The tool receives these; the model reads the
   * original ones.
   */
  readonly editedInput?: unknown;
  /**
   * The original string, if the arguments were not valid JSON. The tool is not executed, and the model gets an error
   * result.
   */
  readonly invalidInput?: string | undefined;
  /**
   * True if the provider executed this call itself. Its result, if the provider returns one, is in the same message.
   */
  readonly providerExecuted?: boolean | undefined;
  /**
   * True if the provider executes this call after a person has approved it. The run suspends the call. The decision
   * becomes its result: an error result denies the call.
   */
  readonly needsApproval?: boolean | undefined;
  /** The nested run of the call, if this run is suspended and waits for decisions. Never sent to a model. */
  readonly inside?: WaitingRun | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** A nested run that waits for decisions, as plain data. The next run continues it. */
export interface WaitingRun {
  readonly runId: string;
  /** The name of the nested run's agent. */
  readonly agent: string;
  /** The number of the nested run's last turn. */
  readonly turn: number;
  /** The messages of the nested run, without the instructions. */
  readonly messages: readonly Message[];
  /**
   * The waiting calls of the nested run, or its waiting answer. Excludes calls that wait because of a deeper nested
   * run.
   */
  readonly waits: readonly SuspendedCall[];
}

/** A call that waits for a decision. For a waiting answer, the id is `answer`. */
export interface SuspendedCall {
  readonly id: string;
  readonly reason: string;
  /**
   * The name of the lifecycle that suspended the call or answer. For a tool without `execute`, the name of the tool.
   */
  readonly by: string;
  /** Set if the tool has no `execute`: the call waits for its result. */
  readonly needs?: 'result' | undefined;
}

/** A part of a user message or a tool result: text, image or file. */
export type ContentPart = TextPart | ImagePart | FilePart;

/** The result of a tool call. Each call has exactly one. */
export interface ToolResultPart {
  readonly type: 'tool-result';
  readonly id: string;
  readonly name: string;
  readonly content: string | readonly ContentPart[];
  /** The result as data, if the tool returned data. */
  readonly structured?: JsonValue | undefined;
  readonly isError?: boolean | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/**
 * A part of an assistant message. Parts keep the order of the response.
 * Contains a tool result only for a call that the provider executed.
 */
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | FilePart | ToolResultPart;

/** Instructions to the model. */
export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

/** A message from the user. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string | readonly (TextPart | ImagePart | FilePart)[];
}

/** A response of the model. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantPart[];
  /** True if the run was aborted during this answer. The content is the text that was shown. */
  readonly stopped?: boolean | undefined;
  /** True if a hook suspended this answer. At the end of a conversation, the answer waits for a decision. */
  readonly suspended?: boolean | undefined;
  /** True if a hook suspended this answer, and a person denied it. */
  readonly denied?: boolean | undefined;
  /**
   * The name of the agent that wrote the message, if the conversation was handed over to it. Absent for the agent that
   * started the run. Not sent to models.
   */
  readonly agent?: string | undefined;
}

/** The tool results of one turn, in call order. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly content: readonly ToolResultPart[];
}

/** A message of a conversation: plain data, serializable as JSON except for bytes. Never mutated. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/**
 * True if a value is valid content of a user message or a tool result: a string, or an array of text, image and file
 * parts.
 */
export function isContent(value: unknown): value is string | readonly ContentPart[] {
  return typeof value === 'string' || (Array.isArray(value) && value.every(isContentPart));
}

/**
 * A message as input of a run. In a variable, TypeScript infers `role: string` for a message, so any string compiles.
 * The run throws a MessageInvalidError for unknown roles and parts.
 */
export type MessageInput =
  | Message
  | { readonly role: string; readonly content: string | readonly { readonly type: string }[] };

/** True if a value is a text, image or file part. */
export function isContentPart(part: unknown): part is ContentPart {
  if (typeof part !== 'object' || part === null) return false;
  const { type, text, image, data } = part as Record<string, unknown>;
  if (type === 'text') return typeof text === 'string';
  if (type === 'image') return typeof image === 'string' || image instanceof Uint8Array;
  return type === 'file' && (typeof data === 'string' || data instanceof Uint8Array);
}

/**
 * Returns the text of a message: its text parts, joined without a separator. A blank line separates texts before and
 * after a tool that the provider executed.
 *
 * Includes the text of tool results, but not reasoning, images and files. Includes commentary only if the message has
 * no other text.
 *
 * @example
 * for (const message of session.messages) console.log(message.role, textOf(message));
 */
export function textOf(message: Message): string {
  const { content } = message;
  if (typeof content === 'string') return content;
  let text = '';
  let remarks = '';
  let gap = '';
  for (const part of content) {
    if (part.type === 'text' && part.commentary) remarks += part.text;
    else if (part.type === 'text') {
      text += (text && gap + part.text) || part.text;
      gap = '';
    } else if (part.type === 'tool-result' && message.role === 'tool') text += contentText(part.content);
    else if (part.type === 'tool-result' || (part.type === 'tool-call' && part.providerExecuted)) gap = '\n\n';
  }
  return text || remarks;
}

/**
 * Returns the tool calls in a message in order, without the calls that the provider executed.
 *
 * @example
 * for (const { name, input } of toolCallsOf(message)) console.log(name, input);
 */
export function toolCallsOf(message: Message): readonly ToolCallPart[] {
  if (message.role !== 'assistant') return [];
  return message.content.filter((part): part is ToolCallPart => part.type === 'tool-call' && !part.providerExecuted);
}

/** Returns the text parts of a content, joined without a separator. */
export function contentText(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
