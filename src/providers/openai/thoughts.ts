import { isObject, type WireObject } from '../shared/wire.js';
import { contentText } from './completion.js';

const OPENING = /^<thought>/;
const CLOSING = /^<\/thought>/;

/**
 * The thought in a message or a delta of Gemini, which marks it beside the content and puts it there between tags, and the
 * text after it. `isAfter` says that a delta comes after thoughts: the tag that ends them begins the text.
 */
export function splitThought(
  message: WireObject,
  isAfter = false,
): { readonly thought: string; readonly text: string } {
  const content = contentText(message.content);
  if (!isThought(message)) return { thought: '', text: isAfter ? content.replace(CLOSING, '') : content };
  const said = content.replace(OPENING, '');
  const end = said.indexOf('</thought>');
  if (end < 0) return { thought: said, text: '' };
  return { thought: said.slice(0, end), text: said.slice(end).replace(CLOSING, '') };
}

/** Whether a message has a thought in its content, and a delta nothing else. */
export function isThought({ extra_content: extra }: WireObject): boolean {
  return isObject(extra) && isObject(extra.google) && extra.google.thought === true;
}

/** What goes back beside a text, such as a signature: not the mark of a thought, which does not go back. */
export function extraContentOf({ extra_content: extra }: WireObject): WireObject | undefined {
  if (!isObject(extra) || !isObject(extra.google)) return isObject(extra) ? extra : undefined;
  const { thought, ...google } = extra.google;
  return Object.keys(google).length > 0 ? { ...extra, google } : undefined;
}
