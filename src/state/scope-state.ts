import type { EvictedState } from './state-store.js';

/** A stored text, and when it was last used. */
export interface StateValue {
  readonly key: string;
  readonly text: string;
  readonly bytes: number;
  readonly usedAt: number;
  /** How long it lives from then on; Infinity where its session decides. */
  readonly ttlMs: number;
}

/** How much of a scope may stay. */
export interface ScopeRoom {
  readonly bytes: number;
  readonly keys: number;
}

/** The values of one extension in one session. Unless the clock was set back, no step looks at more than it removes. */
export class ScopeState {
  bytes = 0;
  /** Nothing expires before it. */
  dueAt = Number.POSITIVE_INFINITY;
  /** Longest unused first. */
  private readonly values: Map<string, StateValue> = new Map();
  /** The same values by their `ttlMs`: who was used first expires first. */
  private readonly queues: Map<number, Set<StateValue>> = new Map();
  private latest = Number.NEGATIVE_INFINITY;

  get size(): number {
    return this.values.size;
  }

  get(key: string): StateValue | undefined {
    return this.values.get(key);
  }

  /** Puts a value last in the order, in the place of what is under its key. */
  put(value: StateValue): void {
    this.remove(value.key);
    this.values.set(value.key, value);
    this.enqueue(value);
    this.bytes += value.bytes;
  }

  remove(key: string): StateValue | undefined {
    const value = this.values.get(key);
    if (value === undefined) return undefined;
    this.values.delete(key);
    const queue = this.queueOf(value.ttlMs);
    queue.delete(value);
    if (queue.size === 0) this.queues.delete(value.ttlMs);
    this.bytes -= value.bytes;
    return value;
  }

  /** Removes what has expired. */
  purge(now: number): void {
    if (now < this.dueAt) return;
    this.dueAt = Number.POSITIVE_INFINITY;
    for (const queue of this.queues.values()) {
      for (const { key, usedAt, ttlMs } of queue) {
        if (usedAt + ttlMs <= now) this.remove(key);
        else {
          this.dueAt = Math.min(this.dueAt, usedAt + ttlMs);
          break;
        }
      }
    }
  }

  /** Removes values, longest unused first, until the rest has room. */
  shrink(room: ScopeRoom): EvictedState[] {
    const evicted: EvictedState[] = [];
    for (const { key, bytes } of this.values.values()) {
      if (this.bytes <= room.bytes && this.size <= room.keys) break;
      this.remove(key);
      evicted.push({ key, bytes });
    }
    return evicted;
  }

  /** Longest unused first. */
  list(): Iterable<StateValue> {
    return this.values.values();
  }

  private enqueue(value: StateValue): void {
    this.dueAt = Math.min(this.dueAt, value.usedAt + value.ttlMs);
    const queue = this.queueOf(value.ttlMs).add(value);
    if (value.usedAt >= this.latest) {
      this.latest = value.usedAt;
      return;
    }
    this.queues.set(value.ttlMs, new Set([...queue].sort((a, b) => a.usedAt - b.usedAt)));
  }

  private queueOf(ttlMs: number): Set<StateValue> {
    let queue = this.queues.get(ttlMs);
    if (queue === undefined) {
      queue = new Set();
      this.queues.set(ttlMs, queue);
    }
    return queue;
  }
}
