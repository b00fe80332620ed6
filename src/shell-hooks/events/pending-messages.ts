import type { Message } from '../../model/message.js';
import { hookMessage } from '../run/text.js';

/** Limit of sessions with pending messages. Above it, the messages of the oldest session are dropped. */
const MOST_SESSIONS = 1_000;
const MOST_MESSAGES = 100;
/** Maximum length of the pending messages of one session, in characters. The oldest messages are dropped first. */
const MOST_TEXT = 100_000;

/** Hook messages for which no model request follows. They wait for the next run of their session. */
export class PendingMessages {
  private readonly waiting = new Map<string, readonly Message[]>();

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  keep(session: string | undefined, texts: readonly { hook: string; text: string }[]): void {
    if (session === undefined || texts.length === 0) return;
    const added = texts.map(({ hook, text }) => hookMessage(hook, text));
    const kept = newest([...(this.waiting.get(session) ?? []), ...added]);
    this.waiting.delete(session);
    this.waiting.set(session, kept);
    const [oldest] = this.waiting.keys();
    if (this.waiting.size > MOST_SESSIONS && oldest !== undefined) this.waiting.delete(oldest);
  }

  take(session: string | undefined): readonly Message[] {
    if (session === undefined) return [];
    const messages = this.waiting.get(session) ?? [];
    this.waiting.delete(session);
    return messages;
  }
}

function newest(messages: readonly Message[]): readonly Message[] {
  let room = MOST_TEXT;
  const kept = messages.slice(-MOST_MESSAGES);
  const first = kept.findLastIndex(({ content }) => {
    room -= content.length;
    return room < 0;
  });
  return kept.slice(first + 1);
}
