import type { AssistantPart, ContentPart, Message } from '../../model/message.js';
import type { ToolSpec } from '../../model/model.js';

/** A part of a message in the format of the GenAI semantic conventions. */
type Part = Readonly<Record<string, unknown>>;

/** A message in the format of the GenAI semantic conventions. */
interface ChatMessage {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly finish_reason?: string;
}

/**
 * Serializes messages as JSON of at most `limit` characters. Omits the oldest messages if they do not fit, and shortens
 * the newest if it alone is too long. Reads only the messages that fit, so the cost does not grow with the
 * conversation.
 */
export function messagesJson(messages: readonly Message[], limit: number): string {
  const kept: string[] = [];
  let room = limit - 2;
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = chatMessage(messages[i] as Message);
    const text = boundedJson(message, kept.length === 0 ? room : limit);
    if (text.length > room && kept.length > 0) break;
    kept.unshift(text);
    room -= text.length + 1;
    if (room <= 0) break;
  }
  return `[${kept.join(',')}]`;
}

/** Serializes a model's response as JSON of at most `limit` characters. */
export function answerJson(content: readonly AssistantPart[], finishReason: string, limit: number): string {
  const message: ChatMessage = { ...chatMessage({ role: 'assistant', content }), finish_reason: finishReason };
  return boundedJson([message], limit);
}

/** Serializes tool definitions as JSON of at most `limit` characters. */
export function toolsJson(tools: readonly ToolSpec[], limit: number): string {
  const definitions = tools.map(({ name, description, inputSchema: parameters }) => {
    return { type: 'function', name, description, parameters };
  });
  return boundedJson(definitions, limit);
}

/** Returns the content of a tool result as a string of at most `limit` characters. An array of parts becomes JSON. */
export function contentText(content: string | readonly ContentPart[], limit: number): string {
  return typeof content === 'string' ? cut(content, limit) : boundedJson(content.map(partOf), limit);
}

/**
 * Serializes a value as JSON of at most `limit` characters. Long strings in the value are shortened first, so that the
 * result stays valid JSON. If that is not enough, the JSON itself is cut and becomes invalid.
 *
 * A value that JSON cannot represent becomes `null`.
 */
export function boundedJson(value: unknown, limit: number): string {
  let text = 'null';
  for (let longest = limit; longest >= 8; longest = Math.floor(longest / 4)) {
    text = jsonOf(value, longest);
    if (text.length <= limit) return text;
  }
  return cut(text, limit);
}

function jsonOf(value: unknown, longest: number): string {
  try {
    return JSON.stringify(value, shorten(longest)) ?? 'null';
  } catch {
    return 'null';
  }
}

/** Returns a string of at most `limit` characters. A shortened string ends in `…`. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // A lone surrogate is invalid UTF-8, and a collector would reject the whole batch.
  return `${text.slice(0, limit - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function shorten(longest: number): (key: string, value: unknown) => unknown {
  return (_key, value) => {
    if (typeof value === 'bigint') return String(value);
    return typeof value === 'string' ? cut(value, longest) : value;
  };
}

function chatMessage({ role, content }: Message): ChatMessage {
  return { role, parts: typeof content === 'string' ? [textPart(content)] : content.map(partOf) };
}

function partOf(part: AssistantPart | ContentPart): Part {
  switch (part.type) {
    case 'text':
      return textPart(part.text);
    case 'reasoning':
      return { type: 'reasoning', content: part.text };
    case 'tool-call':
      return { type: 'tool_call', id: part.id, name: part.name, arguments: part.invalidInput ?? part.input };
    case 'tool-result':
      return { type: 'tool_call_response', id: part.id, response: response(part.content) };
    case 'image':
      return media('image', part.mediaType, part.image);
    case 'file':
      return media(modalityOf(part.mediaType), part.mediaType, part.data);
    default:
      return { type: String((part as { type?: unknown }).type) };
  }
}

export function textPart(content: string): Part {
  return { type: 'text', content };
}

function response(content: string | readonly ContentPart[]): unknown {
  return typeof content === 'string' ? content : content.map(partOf);
}

function modalityOf(mediaType: string): string {
  return /^(image|audio|video)\//i.exec(mediaType)?.[1]?.toLowerCase() ?? 'document';
}

/**
 * Returns the description of an image or a file. Contains its URL, but not its bytes or base64 data, which are too
 * large for a trace.
 */
function media(modality: string, mediaType: string | undefined, data: string | Uint8Array): Part {
  const known = { modality, mime_type: mediaType };
  if (typeof data === 'string' && /^https?:/i.test(data)) return { type: 'uri', ...known, uri: data };
  return { type: 'blob', ...known, content: '' };
}
