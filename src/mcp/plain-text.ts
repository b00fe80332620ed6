import { stripVTControlCharacters } from 'node:util';

/**
 * Control characters but for the line feed and the tab; and those that show nothing, which turn the text around or hide
 * one that only a model reads. The joiners stay, since whole scripts and emoji need them. Half an emoji, as a cut leaves,
 * would make a provider refuse the request.
 */
const UNPRINTABLE = /(?![\n\t])\p{Cc}|(?![\u200c\u200d])\p{Cf}|\p{Cs}/gu;

/** A text of a server's, fit for a log or a model: without what steers a terminal, reorders it or cannot be seen, and not too long. */
export function plainText(text: string, maxLength: number): string {
  const plain = stripVTControlCharacters(text.slice(0, maxLength)).replace(UNPRINTABLE, '');
  return text.length > maxLength ? `${plain}… (${text.length} characters)` : plain;
}
