import type { ContentPart, Message, ToolResultPart } from './message.js';

type Content = ToolResultPart['content'];

/**
 * Shortens the text of a tool result to `maxChars` UTF-16 units, not counting the notes on omissions. Returns the same
 * content if it is short enough.
 */
function shortenContent(content: Content, maxChars: number): Content {
  const length = charsIn(content);
  if (length <= maxChars) return content;
  if (typeof content === 'string') return shorten(content, maxChars);
  // Each text part is shortened in proportion to its length.
  const cut = (part: ContentPart): ContentPart =>
    part.type === 'text'
      ? { ...part, text: shorten(part.text, Math.floor((maxChars * part.text.length) / length)) }
      : part;
  return content.map(cut);
}

/** Shortens each result of a tool message to `maxChars` UTF-16 units of text. */
export function shortenResults(message: Message, maxChars: number): Message {
  if (message.role !== 'tool') return message;
  const content = message.content.map((part) => ({ ...part, content: shortenContent(part.content, maxChars) }));
  return { ...message, content };
}

/** Returns the number of UTF-16 units of text in a tool result. */
export function charsIn(content: Content): number {
  if (typeof content === 'string') return content.length;
  return content.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);
}

/** Shortens a string to `maxChars` UTF-16 units: its beginning, a note on the omitted characters, and its end. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const half = Math.ceil(maxChars / 2);
  const head = text.slice(0, atCharacter(text, half));
  const rest = maxChars - half;
  const from = text.length - rest;
  const tail = text.slice(from === atCharacter(text, from) ? from : from + 1);
  return `${head}\n[… ${text.length - head.length - tail.length} characters left out …]\n${tail}`;
}

/** Returns `at`, or `at - 1` if a cut at `at` would split a surrogate pair. */
function atCharacter(text: string, at: number): number {
  return /[\uD800-\uDBFF]/.test(text.charAt(at - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(at)) ? at - 1 : at;
}
