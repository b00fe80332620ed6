import { safeText } from '../../internal/safe-text.js';
import type { Message } from '../../model/message.js';

/** How much a hook may tell the model at once. */
const LONGEST = 10_000;

/** A message from a hook to the model: capped, marked as what it is, and unable to end or imitate another message. */
export function hookMessage(hook: string, text: string, role: 'system' | 'user' = 'system'): Message {
  const source = escapeMarkup(safeText(hook)).replaceAll('"', '&quot;');
  return { role, content: `<hook-message source="hook:${source}">\n${modelText(text)}\n</hook-message>` };
}

/** Words of a hook within a text of ours that the model reads. */
export function modelText(text: string): string {
  // A joiner within a word would hide it from what follows.
  return escapeMarkup(safeText(text, { maxLength: LONGEST }).replace(/[\u200c\u200d]/g, ''))
    .replace(ROLE, '$1&#58;')
    .replace(/\[(?=\/?(?:INST|SYS(?:TEM)?(?:_PROMPT)?)\])/gi, '&#91;');
}

/** What begins a line as the words of another speaker would, also in marks, as headings and bold ones have them. */
const ROLE =
  /^([^\p{L}\p{N}\n]*(?:system|user|assistant|human|tool|developer)[^\p{L}\p{N}\n:\uff1a\ufe55]{0,10}?)[ \t]*[:\uff1a\ufe55]/gimu;

function escapeMarkup(text: string): string {
  const named = text.replaceAll('&', '&amp;');
  // Of full width and small they are the same to many readers.
  return named.replace(/[<\uff1c\ufe64]/g, '&lt;').replace(/[>\uff1e\ufe65]/g, '&gt;');
}
