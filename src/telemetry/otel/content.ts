import type { AssistantPart, ContentPart, Message } from '../../model/message.js';
import type { ToolSpec } from '../../model/model.js';

/** A part of a message in the conventions' form. */
type Part = Readonly<Record<string, unknown>>;

/** A message in the conventions' form. */
interface ChatMessage {
  readonly role: string;
  readonly parts: readonly Part[];
  readonly finish_reason?: string;
}

/**
 * Messages as JSON text of at most `limit` characters. Where they are more, the oldest are left out; the newest alone is
 * cut inside. Only what fits is looked at, so a long conversation costs no more than a short one.
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

/** A model's answer as JSON text of at most `limit` characters. */
export function answerJson(content: readonly AssistantPart[], finishReason: string, limit: number): string {
  const message: ChatMessage = { ...chatMessage({ role: 'assistant', content }), finish_reason: finishReason };
  return boundedJson([message], limit);
}

/** What a model is told of tools, as JSON of at most `limit` characters. */
export function toolsJson(tools: readonly ToolSpec[], limit: number): string {
  const told = tools.map(({ name, description, inputSchema: parameters }) => {
    return { type: 'function', name, description, parameters };
  });
  return boundedJson(told, limit);
}

/** A tool's content as text of at most `limit` characters: as it is, or as JSON where it has parts. */
export function contentText(content: string | readonly ContentPart[], limit: number): string {
  return typeof content === 'string' ? cut(content, limit) : boundedJson(content.map(partOf), limit);
}

/**
 * A value as JSON text of at most `limit` characters. Long texts inside are shortened until it fits, so that it stays
 * JSON; a value that is all structure is cut. What is no JSON becomes `null`.
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

/** A text of at most `limit` characters, the last of them `…` where something is missing. */
export function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Half of a pair of surrogates is no UTF-8: a collector would refuse the whole batch.
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

/** A picture or file: its address, or where it has none only what it is. Bytes and base64 do not belong into a trace. */
function media(modality: string, mediaType: string | undefined, data: string | Uint8Array): Part {
  const known = { modality, ...(mediaType !== undefined && { mime_type: mediaType }) };
  if (typeof data === 'string' && /^https?:/i.test(data)) return { type: 'uri', ...known, uri: data };
  return { type: 'blob', ...known, content: '' };
}
