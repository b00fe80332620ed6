import type { Message } from '../model/message.js';
import { checkKeep, type SessionChange, type SessionStore, type StoredSession } from './session-store.js';

/**
 * Stores sessions in the memory of this process. They are lost when the process ends.
 *
 * @example
 * const store = new MemorySessionStore();
 * const support = new Agent({ name: 'support', model, store });
 * const sales = new Agent({ name: 'sales', model, store });
 */
export class MemorySessionStore implements SessionStore {
  private readonly sessions = new Map<string, { readonly messages: Message[]; revision: number }>();

  load(id: string): StoredSession | undefined {
    const stored = this.sessions.get(id);
    return stored && { messages: [...stored.messages], revision: stored.revision };
  }

  save(id: string, { keep, append }: SessionChange, expected: number): number | undefined {
    const stored = this.sessions.get(id) ?? { messages: [], revision: 0 };
    if (stored.revision !== expected) return undefined;
    checkKeep(keep, stored.messages.length);
    stored.messages.length = keep;
    stored.messages.push(...append);
    stored.revision += 1;
    this.sessions.set(id, stored);
    return stored.revision;
  }

  delete(id: string): void {
    this.sessions.delete(id);
  }
}
