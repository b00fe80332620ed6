import { createDeferred } from '../internal/promise.js';
import type { SessionStore } from './session-store.js';

/** A place in the queue of a session. */
export interface QueuePlace {
  /** Resolves when every earlier place was left. Never rejects. */
  readonly before: Promise<unknown>;
  /** Resolves when this place was left, too. */
  readonly tail: Promise<unknown>;
  /** Leaves the queue once `work` has resolved. */
  leave(work: Promise<unknown>): void;
}

const queues = new WeakMap<SessionStore, Map<string, Promise<unknown>>>();

/** Takes the last place in the queue of a session. One store has one queue for each session id of the process. */
export function joinQueue(store: SessionStore, id: string): QueuePlace {
  const tails = queues.get(store) ?? new Map<string, Promise<unknown>>();
  queues.set(store, tails);
  const before = tails.get(id) ?? Promise.resolve();
  const place = createDeferred<unknown>();
  const tail = before.then(() => place.promise);
  tails.set(id, tail);
  void tail.then(() => {
    if (tails.get(id) === tail) tails.delete(id);
  });
  return { before, tail, leave: (work) => place.resolve(work) };
}
