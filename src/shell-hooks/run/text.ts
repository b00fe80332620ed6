import { safeText } from '../../internal/safe-text.js';
import type { Message } from '../../model/message.js';
import type { HookEffects } from '../hook/effects.js';

/** Maximum length of one hook message to the model, in characters. */
export const LONGEST = 10_000;

/** Returns a string of a hook with at most 10,000 characters. A string that is cut ends with its original length. */
export function shortText(text: string): string {
  if (text.length <= LONGEST) return text;
  const end = `… (${text.length} characters)`;
  return text.slice(0, LONGEST - end.length) + end;
}

/**
 * Returns a message of a hook to the model. The content is shortened, and cannot end or imitate another message.
 */
export function hookMessage(hook: string, text: string, role: 'system' | 'user' = 'system'): Message {
  const source = escapeMarkup(safeText(hook)).replaceAll('"', '&quot;');
  return { role, content: `<hook-message source="hook:${source}">\n${modelText(text)}\n</hook-message>` };
}

/**
 * Returns a string of a hook, shortened, for use in a message to the model. The string stays as the hook wrote it, except
 * for tags of Keelson's own messages and role names that could look like another speaker.
 */
export function modelText(text: string): string {
  // Zero-width joiners inside a role name would hide it from `ROLE`.
  return withoutFrames(safeText(shortText(text)).replace(/[\u200c\u200d]/g, ''))
    .replace(ROLE, '$1&#58;')
    .replace(/\[(?=\/?(?:INST|SYS(?:TEM)?(?:_PROMPT)?)\])/gi, '&#91;');
}

/** Matches the rest of a tag of Keelson's own messages, or of a token that separates the messages of a chat. */
const FRAME = /^\s*\/?\s*(?:hook\W?message|system(?:\W?reminder)?(?=[\s>/]|$))|^\|\s*[a-z_]+\s*\|>/i;
const LONGEST_TAG = 40;

/** Escapes the bracket of each tag that could end or imitate a message. Models may read full-width brackets like `<`. */
function withoutFrames(text: string): string {
  return text.replace(/[<\uff1c\ufe64]/g, (bracket, at: number) => {
    const rest = text.slice(at + 1, at + 1 + LONGEST_TAG).normalize('NFKC');
    return FRAME.test(rest) ? '&lt;' : bracket;
  });
}

/**
 * Matches a role name with a colon at the start of a line, which could look like another speaker. Punctuation around
 * the name is allowed, as in Markdown headings and bold text.
 */
const ROLE =
  /^([^\p{L}\p{N}\n]*(?:system|user|assistant|human|tool|developer)[^\p{L}\p{N}\n:\uff1a\ufe55]{0,10}?)[ \t]*[:\uff1a\ufe55]/gimu;

function escapeMarkup(text: string): string {
  const named = text.replaceAll('&', '&amp;');
  // Models may read full-width and small angle brackets like ASCII ones.
  return named.replace(/[<\uff1c\ufe64]/g, '&lt;').replace(/[>\uff1e\ufe65]/g, '&gt;');
}

/** Returns the effects with each message of the hook cut to its maximum length. */
export function withShortTexts(effects: HookEffects): HookEffects {
  const { modelTexts } = effects;
  const texts = (['cancel', 'stop', 'ask', 'again', 'userText'] as const).flatMap((name) => {
    const text = effects[name];
    return text === undefined ? [] : [[name, shortText(text)]];
  });
  return { ...effects, ...Object.fromEntries(texts), ...(modelTexts && { modelTexts: modelTexts.map(shortText) }) };
}
