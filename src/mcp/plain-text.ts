import { stripVTControlCharacters } from 'node:util';

/** Control characters but for the line feed and the tab, and those that change the direction of what follows. */
const UNPRINTABLE = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069]/gu;

/** A text of a server's, fit for a log or a model: without what steers a terminal or reorders it, and not too long. */
export function plainText(text: string, maxLength: number): string {
  const plain = stripVTControlCharacters(text.slice(0, maxLength)).replace(UNPRINTABLE, '');
  return text.length > maxLength ? `${plain}… (${text.length} characters)` : plain;
}
