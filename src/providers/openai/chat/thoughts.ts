import { isObject, type WireObject } from '../../shared/wire.js';
import { contentText } from './completion.js';

const OPENING = /^<thought>/;
const CLOSING = /^<\/thought>/;

/** Says where content comes from: a whole message, a delta, or the first delta after thoughts. */
export type ThoughtPosition = 'whole' | 'delta' | 'after';

/**
 * Splits the content of a Gemini message or delta into the thought and the text after the thought. Gemini marks a
 * message with thoughts by a flag, and puts the thought into `<thought>` tags.
 *
 * A flagged message without the opening tag is text. A flagged delta without the opening tag continues a thought. The
 * first text after thoughts begins with the closing tag.
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
 * True if Gemini has flagged the message as one with thoughts. A message begins with its thought. A delta consists of a
 * thought only.
 */
export function isThought({ extra_content: extra }: WireObject): boolean {
  return isObject(extra) && isObject(extra.google) && extra.google.thought === true;
}

/**
 * Returns Gemini's extra fields that must be sent back with a text, such as a signature. Leaves out the flag for
 * thoughts.
 */
export function extraContentOf({ extra_content: extra }: WireObject): WireObject | undefined {
  if (!isObject(extra) || !isObject(extra.google)) return isObject(extra) ? extra : undefined;
  const { thought, ...google } = extra.google;
  return Object.keys(google).length > 0 ? { ...extra, google } : undefined;
}
