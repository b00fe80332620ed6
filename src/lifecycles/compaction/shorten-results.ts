import type { Message, ToolResultPart } from '../../model/message.js';
import { charsIn, shortenContent } from '../shorten.js';
import { CHARS_PER_TOKEN, tokensIn } from './token-meter.js';

/** A result is not shortened below this number of characters. */
const LEAST_CHARS = 200;
/** The note in a shortened result is not longer. */
const NOTE_CHARS = 60;

/**
 * Shortens the longest tool results so that the messages have at most `maxTokens` estimated tokens. Returns the same
 * array if the messages fit, and undefined if shorter results are not enough.
 */
export function shortenResults(messages: readonly Message[], maxTokens: number): readonly Message[] | undefined {
  const tokens = messages.reduce((sum, message) => sum + tokensIn(message), 0);
  if (tokens <= maxTokens) return messages;
  const lengths = messages.flatMap((message) =>
    message.role === 'tool' ? message.content.map(({ content }) => charsIn(content)) : [],
  );
  const limit = limitFor(lengths, (tokens - maxTokens) * CHARS_PER_TOKEN);
  if (limit === undefined) return undefined;
  const cut = (part: ToolResultPart): ToolResultPart =>
    savedFrom(charsIn(part.content), limit) > 0 ? { ...part, content: shortenContent(part.content, limit) } : part;
  return messages.map((message) =>
    message.role === 'tool' ? { ...message, content: message.content.map(cut) } : message,
  );
}

/** Returns the largest limit that saves `excess` characters, or undefined. */
function limitFor(lengths: readonly number[], excess: number): number | undefined {
  const saves = (limit: number) => lengths.reduce((sum, length) => sum + savedFrom(length, limit), 0) >= excess;
  if (!saves(LEAST_CHARS)) return undefined;
  let low = LEAST_CHARS;
  let high = Math.max(...lengths);
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (saves(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function savedFrom(length: number, limit: number): number {
  return Math.max(0, length - limit - NOTE_CHARS);
}
