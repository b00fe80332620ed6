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

/** Returns a message of a hook to the model. The content is shortened, and cannot end its frame or open another one. */
export function hookMessage(hook: string, text: string, role: 'system' | 'user' = 'system'): Message {
  const source = escapeMarkup(safeText(hook)).replaceAll('"', '&quot;');
  return { role, content: `<hook-message source="hook:${source}">\n${modelText(text)}\n</hook-message>` };
}

/**
 * Returns a string of a hook, shortened, for use in a message to the model. The string stays as the hook wrote it, except
 * for tags of `hook-message`.
 */
export function modelText(text: string): string {
  // Models may read full-width brackets like `<`.
  return safeText(shortText(text)).replace(/[<\uff1c\ufe64]/g, (bracket, at: number, whole: string) =>
    FRAME.test(plain(whole.slice(at + 1, at + 1 + LONGEST_TAG))) ? '&lt;' : bracket,
  );
}

/** Matches the rest of a tag of the frame around each message. */
const FRAME = /^\s*\/?\s*hook[\W_]?message/i;
const LONGEST_TAG = 200;

/** Returns the text without joiners and variation selectors, which nobody sees between two letters. */
function plain(text: string): string {
  return text.replace(/[\u200c\u200d]|\p{Variation_Selector}/gu, '').normalize('NFKC');
}

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
