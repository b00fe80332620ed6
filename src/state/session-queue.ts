import { createDeferred } from '../internal/promise.js';
import type { SessionStore } from './session-store.js';

/** A caller's place in the queue for a session. The callers in one process use a session one after another. */
export interface QueuePlace {
  /** Resolves when the caller in front has left the queue. Undefined if the queue was empty. Never rejects. */
  readonly before: Promise<unknown> | undefined;
  /** Resolves when this caller has left the queue. */
  readonly left: Promise<unknown>;
  /** Leaves the queue when `work` has resolved, or at once if `work` is undefined. */
  leave(work: Promise<unknown> | undefined): void;
}

const queues = new WeakMap<SessionStore, Map<string, Promise<unknown>>>();

/** Joins the end of the queue for a session. In one process, each store has one queue per session id. */
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
