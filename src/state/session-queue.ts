import { createDeferred } from '../internal/promise.js';
import type { SessionStore } from './session-store.js';

/** A place in the queue of a session. */
export interface QueuePlace {
  /** Resolves when the previous place is left. Undefined if the queue was empty. Never rejects. */
  readonly before: Promise<unknown> | undefined;
  /** Resolves when this place is left. */
  readonly left: Promise<unknown>;
  /** Leaves the queue once `work` has resolved. */
  leave(work: Promise<unknown> | undefined): void;
}

const queues = new WeakMap<SessionStore, Map<string, Promise<unknown>>>();

/** Adds a place at the end of a session's queue. In a process, each store has one queue per session id. */
export function joinQueue(store: SessionStore, id: string): QueuePlace {
  const tails = queues.get(store) ?? new Map<string, Promise<unknown>>();
  queues.set(store, tails);
  const before = tails.get(id);
  const place = createDeferred<unknown>();
  const left = place.promise;
  tails.set(id, left);
  void left.then(() => {
    if (tails.get(id) === left) tails.delete(id);
  });
  return { before, left, leave: (work) => place.resolve(work) };
}
