import type { Message } from '../model/message.js';
import { isSummary } from './summary.js';

/** Where a conversation is cut. */
export interface CutRule {
  /** In what `weigh` gives. */
  readonly limit: number;
  /** How many of the last messages stay at most. */
  readonly keep: number;
  readonly weigh: (message: Message) => number;
}

/** A conversation in two: what a summary takes the place of, and what stays. */
export interface Cut {
  /** All messages before the tail: a whole conversation in itself. */
  readonly head: readonly Message[];
  /** Of these, the ones that stay word for word. */
  readonly kept: readonly Message[];
  /** The last messages. */
  readonly tail: readonly Message[];
}

/**
 * Cuts a conversation so that no tool call is parted from its results. Undefined where a summary would take the place of
 * less than a quarter of the limit: what cannot be made shorter is not summarised anew in each turn.
 */
export function cutConversation(messages: readonly Message[], rule: CutRule): Cut | undefined {
  const start = startOfTail(messages, rule);
  const head = messages.slice(0, start);
  const asked = messages.findLast((message) => message.role === 'user' && !isSummary(message));
  const kept = head.filter((message) => message.role === 'system' || message === asked);
  const replaced = head.filter((message) => !kept.includes(message) && !isSummary(message));
  const weight = replaced.reduce((sum, message) => sum + rule.weigh(message), 0);
  return weight > 0 && weight * 4 >= rule.limit ? { head, kept, tail: messages.slice(start) } : undefined;
}

/** The tail holds at least the last turn; beyond that no more than `keep` messages and half of the limit. */
function startOfTail(messages: readonly Message[], { limit, keep, weigh }: CutRule): number {
  let start = messages.length;
  let weight = 0;
  for (let at = messages.length - 1; at >= 0; at -= 1) {
    const message = messages[at] as Message;
    weight += weigh(message);
    const isFull = messages.length - at > keep || weight * 2 > limit;
    if (isFull && start < messages.length) break;
    // Results stand right behind the message that asks for them.
    if (message.role !== 'tool') start = at;
  }
  return start;
}
