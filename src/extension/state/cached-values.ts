import { entryBytes } from '../../state/state-key.js';
import type { SessionStateEntry, StateChange, StatePolicy, StateView } from '../../state/state-store.js';

/** One key of an extension in a session, with what this process knows about its value. */
export interface CachedValue {
  readonly extension: string;
  readonly key: string;
  /** The current value, even if the store does not have it yet. Null if absent, undefined if unknown. */
  value: string | null | undefined;
  /** The value that callbacks saw last, when they read or wrote it. Undefined until a callback has read the key. */
  seen: string | null | undefined;
  /** The write that the store does not have yet. `isNew` is true if the key is absent in the store. */
  pending: (SessionStateEntry & { readonly isNew: boolean }) | undefined;
  /** True if the value was read, and the store must restart its lifetime. */
  isUsed: boolean;
}

const EMPTY: StateView = { bytes: 0, extensions: {}, values: [], complete: [] };

/** The state of one session as far as this process knows it, with the writes that the store does not have yet. */
export class CachedValues {
  /** The time of the last read. */
  readAt = Number.NEGATIVE_INFINITY;
  /** Grows when values are forgotten or written to the store. A read that began earlier is then repeated. */
  version = 0;
  private readonly entries = new Map<string, CachedValue>();
  private bytes = 0;
  private extensions = new Map<string, number>();
  /** The extensions for which this process knows every key, so that an unknown key is absent. */
  private complete = new Set<string>();

  /** While `isLocal` is true, the store has no state of the session. */
  constructor(public isLocal: boolean) {}

  at({ extension, key }: Pick<CachedValue, 'extension' | 'key'>): CachedValue {
    const id = JSON.stringify([extension, key]);
    const made = { value: undefined, seen: undefined, pending: undefined, isUsed: false };
    const entry = this.entries.get(id) ?? { extension, key, ...made };
    this.entries.set(id, entry);
    return entry;
  }

  /** Returns the value of a key, null if the key is absent, or undefined if the process does not know. */
  valueOf({ extension, value }: CachedValue): string | null | undefined {
    const isComplete = this.isLocal || this.complete.has(extension);
    return value === undefined && isComplete ? null : value;
  }

  list(state: 'pending' | 'isUsed'): readonly CachedValue[] {
    return [...this.entries.values()].filter((entry) => entry[state]);
  }

  /** Returns true if the store can keep the value without an eviction. */
  fits(entry: CachedValue, value: string, { extensionBytes, sessionBytes }: StatePolicy): boolean {
    const added = addedBytes(entry, value);
    const own = this.extensions.get(entry.extension) ?? 0;
    return own + added <= extensionBytes && this.bytes + added <= sessionBytes;
  }

  put(entry: CachedValue, value: string): StateChange {
    const added = addedBytes(entry, value);
    this.extensions.set(entry.extension, (this.extensions.get(entry.extension) ?? 0) + added);
    this.bytes += added;
    entry.value = value;
    entry.isUsed = false;
    if (entry.seen !== undefined) entry.seen = value;
    return { stored: true, evicted: [], bytesBefore: this.bytes - added, bytesAfter: this.bytes };
  }

  /** Sets a value that is sent to the store later. */
  putLater(entry: CachedValue, value: string): StateChange {
    const { extension, key, pending: earlier } = entry;
    const ifValue = earlier === undefined ? entry.seen : earlier.ifValue;
    const isNew = earlier?.isNew ?? this.valueOf(entry) === null;
    entry.pending = { extension, key, value, ifValue, isNew };
    return this.put(entry, value);
  }

  /** Replaces all values, except pending writes, by the values that the store had at the time `readAt`. */
  learn({ bytes, extensions, values, complete }: StateView, readAt: number): void {
    this.readAt = readAt;
    this.bytes = bytes;
    this.extensions = new Map(Object.entries(extensions));
    this.complete = new Set(complete);
    for (const entry of this.entries.values()) entry.value = undefined;
    for (const { extension, key, value } of values) this.at({ extension, key }).value = value;
    for (const entry of this.list('pending')) this.put(entry, entry.pending?.value ?? '');
  }

  /**
   * Forgets one key, the keys of an extension, or all keys, with their pending writes. Returns the number of keys that
   * the store never had.
   */
  drop(extension?: string, key?: string): number {
    let count = 0;
    for (const [id, entry] of this.entries) {
      if ((extension ?? entry.extension) !== entry.extension || (key ?? entry.key) !== entry.key) continue;
      if (entry.pending?.isNew) count += 1;
      this.entries.delete(id);
    }
    this.forget();
    return count;
  }

  forget(): void {
    this.version += 1;
    this.learn(EMPTY, Number.NEGATIVE_INFINITY);
  }
}

function addedBytes({ key, value: old }: CachedValue, value: string): number {
  return entryBytes(key, value) - (typeof old === 'string' ? entryBytes(key, old) : 0);
}
