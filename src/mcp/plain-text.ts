import { stripVTControlCharacters } from 'node:util';
import { withoutUnseen } from '../internal/unseen-text.js';

/** A text of a server's, fit for a log or a model: without what steers a terminal, reorders it or cannot be seen, and not too long. */
export function plainText(text: string, maxLength: number): string {
  const plain = withoutUnseen(stripVTControlCharacters(text.slice(0, maxLength)));
  return text.length > maxLength ? `${plain}… (${text.length} characters)` : plain;
}
