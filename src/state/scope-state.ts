import type { EvictedState } from './state-store.js';

/** A stored value of an extension, with the time of its last use. */
export interface StateValue {
  readonly key: string;
  readonly text: string;
  readonly bytes: number;
  readonly usedAt: number;
  /** Lifetime in milliseconds after the last use. Infinity if the value expires with its session. */
  readonly ttlMs: number;
}

/** The values of one extension in one session. */
export class ScopeState {
  bytes = 0;
  /** A time before which no value expires, so that `purge` has nothing to do. */
  private dueAt = Number.POSITIVE_INFINITY;
  /** The values by key, the least recently used value first. */
  private readonly values: Map<string, StateValue> = new Map();

  get size(): number {
    return this.values.size;
  }

  get(key: string): StateValue | undefined {
    return this.values.get(key);
  }

  /** Adds a value as the most recently used one. Replaces the value with the same key. */
  put(value: StateValue): void {
    this.remove(value.key);
    this.values.set(value.key, value);
    this.bytes += value.bytes;
    this.dueAt = Math.min(this.dueAt, value.usedAt + value.ttlMs);
  }

  remove(key: string): void {
    this.bytes -= this.values.get(key)?.bytes ?? 0;
    this.values.delete(key);
  }

  /** Removes expired values. */
  purge(now: number): void {
    if (now < this.dueAt) return;
    this.dueAt = Number.POSITIVE_INFINITY;
    for (const { key, usedAt, ttlMs } of this.values.values()) {
      if (usedAt + ttlMs <= now) this.remove(key);
      else this.dueAt = Math.min(this.dueAt, usedAt + ttlMs);
    }
  }

  /** Removes the least recently used values until the other values fit into `room`. Returns the removed values. */
  shrink(room: { readonly bytes: number; readonly keys: number }): EvictedState[] {
    const evicted: EvictedState[] = [];
    for (const { key, bytes } of this.values.values()) {
      if (this.bytes <= room.bytes && this.size <= room.keys) break;
      this.remove(key);
      evicted.push({ key, bytes });
    }
    return evicted;
  }

  /** Returns all values, the least recently used first. */
  list(): Iterable<StateValue> {
    return this.values.values();
  }
}
