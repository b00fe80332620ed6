import type { Message } from '../../model/message.js';
import { charsIn } from '../../model/shorten.js';
import { CHARS_PER_TOKEN, tokensIn } from './token-meter.js';

/** A result is not shortened below this number of characters. */
const LEAST_CHARS = 200;
/** The maximum length of the note in a shortened result. */
const NOTE_CHARS = 60;

/** A message whose tool results have to be shortened. */
export interface Shortening {
  readonly message: Message;
  /** The number of characters that each result keeps. */
  readonly chars: number;
}

/**
 * Returns the messages whose longest results must be shortened so that all messages have at most `maxTokens` estimated
 * tokens. Returns an empty array if the messages fit, and undefined if shorter results are not enough.
 */
export function shorteningFor(messages: readonly Message[], maxTokens: number): readonly Shortening[] | undefined {
  const tokens = messages.reduce((sum, message) => sum + tokensIn(message), 0);
  if (tokens <= maxTokens) return [];
  const lengths = messages.flatMap((message) =>
    message.role === 'tool' ? message.content.map(({ content }) => charsIn(content)) : [],
  );
  const chars = limitFor(lengths, (tokens - maxTokens) * CHARS_PER_TOKEN);
  if (chars === undefined) return undefined;
  const isLong = (message: Message) =>
    message.role === 'tool' && message.content.some(({ content }) => savedFrom(charsIn(content), chars) > 0);
  return messages.filter(isLong).map((message) => ({ message, chars }));
}

/**
 * Returns the largest number of characters per result that saves `excess` characters in total. Returns undefined if
 * even the shortest results do not save as much.
 */
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
