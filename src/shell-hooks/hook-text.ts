import type { Message } from '../model/message.js';

/** How much a hook may tell the model at once. */
const LONGEST = 10_000;

/** A message from a hook to the model: capped, marked as what it is, and unable to end or imitate another message. */
export function hookMessage(hook: string, text: string, role: 'system' | 'user' = 'system'): Message {
  const source = escapeMarkup(visibleText(hook)).replaceAll('"', '&quot;');
  return { role, content: `<hook-message source="hook:${source}">\n${modelText(text)}\n</hook-message>` };
}

/** Words of a hook within a text of ours that the model reads. */
export function modelText(text: string): string {
  return escapeMarkup(shorten(visibleText(text)))
    .replace(/^([ \t]*(?:system|user|assistant|human|tool|developer))[ \t]*:/gim, '$1&#58;')
    .replace(/\[(?=\/?(?:INST|SYS(?:TEM)?(?:_PROMPT)?)\])/gi, '&#91;');
}

/** Words of a hook for people: without what a terminal would act on. */
export function visibleText(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
      .replace(/\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g, '')
      .replace(/\r\n?/g, '\n')
      .replace(/[\p{Cc}\p{Cf}]/gu, (character) => (character === '\n' || character === '\t' ? character : ''))
  );
}

function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function shorten(text: string): string {
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST)}\n[${text.length - LONGEST} more characters were left out]`;
}
