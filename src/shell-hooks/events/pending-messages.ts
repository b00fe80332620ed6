import type { Message } from '../../model/message.js';
import { hookMessage } from '../run/text.js';

/** More sessions than wait for anything at once; the oldest is given up for the newest. */
const MOST_SESSIONS = 1_000;
const MOST_MESSAGES = 100;

/** What hooks have said when no request was to come: it waits for the session's next one. */
export class PendingMessages {
  private readonly waiting = new Map<string, readonly Message[]>();

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  keep(session: string | undefined, texts: readonly { hook: string; text: string }[]): void {
    if (session === undefined || texts.length === 0) return;
    const added = texts.map(({ hook, text }) => hookMessage(hook, text));
    const kept = [...(this.waiting.get(session) ?? []), ...added].slice(-MOST_MESSAGES);
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
