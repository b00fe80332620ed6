import type { Message } from '../../model/message.js';
import { isSummary } from '../../model/summary-message.js';

/** The limits that decide which messages a summary replaces. */
export interface CutRule {
  /** The limit of the conversation, in the unit of `measure`. */
  readonly limit: number;
  /** The maximum number of last messages that stay unchanged. */
  readonly keep: number;
  readonly measure: (message: Message) => number;
}

/** A conversation, split into the messages to summarise and the messages that stay. */
export interface Cut {
  /** All messages before `tail`. Each tool call in it has its results. */
  readonly head: readonly Message[];
  /** The messages of `head` that stay unchanged. */
  readonly kept: readonly Message[];
  /** The last messages. */
  readonly tail: readonly Message[];
}

/**
 * Splits a conversation without separating a tool call from its results.
 *
 * Returns undefined if a summary would replace less than a quarter of the limit. Otherwise, a conversation that is
 * still too long after a summary would be summarised again in every turn.
 */
export function cutConversation(messages: readonly Message[], rule: CutRule): Cut | undefined {
  const start = startOfTail(messages, rule);
  const head = messages.slice(0, start);
  const asked = messages.findLast((message) => message.role === 'user' && !isSummary(message));
  const kept = head.filter((message) => message.role === 'system' || message === asked);
  const replaced = head.filter((message) => !kept.includes(message) && !isSummary(message));
  const weight = replaced.reduce((sum, message) => sum + rule.measure(message), 0);
  return weight > 0 && weight * 4 >= rule.limit ? { head, kept, tail: messages.slice(start) } : undefined;
}

/**
 * Returns the start of the tail. The tail holds at least the last turn. Beyond that, it holds at most `keep` messages
 * and half of `limit`.
 */
function startOfTail(messages: readonly Message[], { limit, keep, measure }: CutRule): number {
  let start = messages.length;
  let weight = 0;
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index] as Message;
    weight += measure(message);
    const isFull = messages.length - index > keep || weight * 2 > limit;
    if (isFull && start < messages.length) break;
    // A tail must not start with tool results, which follow the message with the tool calls.
    if (message.role !== 'tool') start = index;
  }
  return start;
}
