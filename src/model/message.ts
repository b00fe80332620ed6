import type { JsonValue } from '../internal/json.js';

/** What a provider attached to a part, keyed by provider. It goes back with the part: signatures and item ids need it. */
export type ProviderMetadata = Readonly<Record<string, unknown>>;

/** Text. */
export interface TextPart {
  readonly type: 'text';
  readonly text: string;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** What a model thought before it answered. */
export interface ReasoningPart {
  readonly type: 'reasoning';
  readonly text: string;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** A picture: a URL (`https:` or `data:`), base64 text or bytes. */
export interface ImagePart {
  readonly type: 'image';
  readonly image: string | Uint8Array;
  /** Such as `image/png`; needed for base64 text and bytes. */
  readonly mediaType?: string | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** A file: a URL, base64 text or bytes. */
export interface FilePart {
  readonly type: 'file';
  readonly data: string | Uint8Array;
  /** Such as `application/pdf`. */
  readonly mediaType: string;
  readonly filename?: string | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** A model's wish that a tool be called. */
export interface ToolCallPart {
  readonly type: 'tool-call';
  /** Unique in its response. The result carries it back. */
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
  /** The raw text of arguments that were no JSON. Such a call is not run: the model gets an error result. */
  readonly invalidInput?: string | undefined;
  /** The provider ran this call itself; its result, if it shows one, stands in the same message. */
  readonly providerExecuted?: boolean | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** What a tool gives back: text, pictures and files. */
export type ContentPart = TextPart | ImagePart | FilePart;

/** The one result of one tool call. */
export interface ToolResultPart {
  readonly type: 'tool-result';
  readonly id: string;
  readonly name: string;
  readonly content: string | readonly ContentPart[];
  /** The same result as data, where the tool returned data. */
  readonly structured?: JsonValue | undefined;
  readonly isError?: boolean | undefined;
  readonly providerMetadata?: ProviderMetadata | undefined;
}

/** What an assistant message is made of, in the order it came. A tool result stands here only where the provider ran the call. */
export type AssistantPart = TextPart | ReasoningPart | ToolCallPart | FilePart | ToolResultPart;

/** Directions to the model. */
export interface SystemMessage {
  readonly role: 'system';
  readonly content: string;
}

/** What the user said. */
export interface UserMessage {
  readonly role: 'user';
  readonly content: string | readonly (TextPart | ImagePart | FilePart)[];
}

/** What the model answered. */
export interface AssistantMessage {
  readonly role: 'assistant';
  readonly content: readonly AssistantPart[];
}

/** The results of one turn's calls, in call order. */
export interface ToolMessage {
  readonly role: 'tool';
  readonly content: readonly ToolResultPart[];
}

/** One entry of a conversation: plain data that JSON can hold, but for bytes. Never changed in place. */
export type Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage;

/** Whether a value is what a user may say and a tool may give: text, or text, pictures and files in parts. */
export function isContent(value: unknown): value is string | readonly ContentPart[] {
  return typeof value === 'string' || (Array.isArray(value) && value.every(isContentPart));
}

/**
 * A message as a run takes it. A message in a variable has `role: string` for the compiler, so any string compiles; a run
 * refuses unknown roles and parts with a MessageInvalidError.
 */
export type MessageInput =
  | Message
  | { readonly role: string; readonly content: string | readonly { readonly type: string }[] };

/** Whether a value is a text, a picture or a file. */
export function isContentPart(part: unknown): part is ContentPart {
  if (typeof part !== 'object' || part === null) return false;
  const { type, text, image, data } = part as Record<string, unknown>;
  if (type === 'text') return typeof text === 'string';
  if (type === 'image') return typeof image === 'string' || image instanceof Uint8Array;
  return type === 'file' && (typeof data === 'string' || data instanceof Uint8Array);
}

/**
 * The text of a message: its text parts joined. Reasoning, pictures and files are left out; of tool results, the text is kept.
 *
 * @example
 * for (const message of session.messages) console.log(message.role, textOf(message));
 */
export function textOf(message: Message): string {
  const { content } = message;
  if (typeof content === 'string') return content;
  let text = '';
  for (const part of content) {
    if (part.type === 'text') text += part.text;
    else if (part.type === 'tool-result' && message.role === 'tool') text += contentText(part.content);
  }
  return text;
}

/**
 * The calls in a message that are this side's to run, in order.
 *
 * @example
 * for (const { name, input } of toolCallsOf(message)) console.log(name, input);
 */
export function toolCallsOf(message: Message): readonly ToolCallPart[] {
  if (message.role !== 'assistant') return [];
  return message.content.filter((part): part is ToolCallPart => part.type === 'tool-call' && !part.providerExecuted);
}

/** The text parts of a content, joined. */
export function contentText(content: string | readonly ContentPart[]): string {
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
