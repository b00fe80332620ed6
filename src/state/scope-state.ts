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

/** The values of one extension in one session. */
export class ScopeState {
  bytes = 0;
  /** Nothing expires before it. */
  dueAt = Number.POSITIVE_INFINITY;
  /** Longest unused first. */
  private readonly values: Map<string, StateValue> = new Map();

  get size(): number {
    return this.values.size;
  }

  get(key: string): StateValue | undefined {
    return this.values.get(key);
  }

  /** Puts a value last in the order, and replaces the one under its key. */
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

  /** Removes what has expired. */
  purge(now: number): void {
    if (now < this.dueAt) return;
    this.dueAt = Number.POSITIVE_INFINITY;
    for (const { key, usedAt, ttlMs } of this.values.values()) {
      if (usedAt + ttlMs <= now) this.remove(key);
      else this.dueAt = Math.min(this.dueAt, usedAt + ttlMs);
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
}
