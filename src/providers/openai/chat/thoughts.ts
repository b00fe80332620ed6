import { isObject, type WireObject } from '../../shared/wire.js';
import { contentText } from './completion.js';

const OPENING = /^<thought>/;
const CLOSING = /^<\/thought>/;

/** The source of a content: a whole message, a delta, or the first delta after thoughts. */
export type ThoughtPosition = 'whole' | 'delta' | 'after';

/**
 * Splits the content of a Gemini message or delta into the thought and the text after it.
 * Gemini flags the message and wraps the thought in `<thought>` tags. A flagged message without the opening tag is text.
 * A flagged delta without the tag continues a thought. The text after thoughts begins with the closing tag.
 */
export function splitThought(
  message: WireObject,
  position: ThoughtPosition,
): { readonly thought: string; readonly text: string } {
  const content = contentText(message.content);
  if (position === 'whole' && !OPENING.test(content)) return { thought: '', text: content };
  if (!isThought(message)) return { thought: '', text: position === 'after' ? content.replace(CLOSING, '') : content };
  const rest = content.replace(OPENING, '');
  const end = rest.indexOf('</thought>');
  if (end < 0) return { thought: rest, text: '' };
  return { thought: rest.slice(0, end), text: rest.slice(end).replace(CLOSING, '') };
}

/**
 * True if the content of a message begins with a thought. In a delta, the flag means that the whole delta is a thought.
 */
export function isThought({ extra_content: extra }: WireObject): boolean {
  return isObject(extra) && isObject(extra.google) && extra.google.thought === true;
}

/** Returns the extra fields to send back with a text, such as a signature. Removes the thought flag. */
export function extraContentOf({ extra_content: extra }: WireObject): WireObject | undefined {
  if (!isObject(extra) || !isObject(extra.google)) return isObject(extra) ? extra : undefined;
  const { thought, ...google } = extra.google;
  return Object.keys(google).length > 0 ? { ...extra, google } : undefined;
}
