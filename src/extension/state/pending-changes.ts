import type { SessionStateEntry } from '../../state/state-store.js';
import type { KnownEntry } from './known-state.js';

/** A write that the store does not have yet. */
export interface PendingWrite extends SessionStateEntry {
  /** The number of calls that wrote the key and are not counted yet. */
  readonly calls: number;
  /** True if the key was absent before. */
  readonly isNew: boolean;
}

/** A key of an extension. */
export interface StateAddress {
  readonly extension: string;
  readonly key: string;
}

/** The reads and writes of callbacks that the store does not know yet. */
export class PendingChanges {
  private readonly writes = new Map<string, PendingWrite>();
  /** Values that were read, and whose lifetime the store has not restarted. */
  private readonly used = new Map<string, StateAddress>();
  /** The last value of each key that callbacks have read. Null stands for an absent key. */
  private readonly seen = new Map<string, string | null>();

  /** Returns the pending write of a key. */
  of(address: StateAddress): PendingWrite | undefined {
    return this.writes.get(idOf(address));
  }

  get hasWrites(): boolean {
    return this.writes.size > 0;
  }

  list(): Iterable<PendingWrite> {
    return this.writes.values();
  }

  /** Notes that a callback has read a value. */
  see(address: StateAddress, value: string | null): void {
    this.seen.set(idOf(address), value);
  }

  /** Notes that the store must restart the lifetime of a value. */
  use({ extension, key }: StateAddress): void {
    this.used.set(idOf({ extension, key }), { extension, key });
  }

  /** Adds a write. `isNew` is true if the key is absent in the store. */
  write(entry: KnownEntry, { isNew, calls }: Pick<PendingWrite, 'isNew' | 'calls'>): void {
    const id = idOf(entry);
    const earlier = this.writes.get(id);
    this.writes.set(id, {
      ...entry,
      ifValue: earlier === undefined ? this.seen.get(id) : earlier.ifValue,
      isNew: earlier?.isNew ?? isNew,
      calls: (earlier?.calls ?? 0) + calls,
    });
    this.wrote(entry);
  }

  /** Notes that the store has a new value of a key, or will have it. */
  wrote(entry: KnownEntry): void {
    const id = idOf(entry);
    this.used.delete(id);
    if (this.seen.has(id)) this.seen.set(id, entry.value);
  }

  /** Removes and returns all changes. */
  take(): { readonly writes: readonly PendingWrite[]; readonly used: readonly StateAddress[] } {
    const taken = { writes: [...this.writes.values()], used: [...this.used.values()] };
    this.writes.clear();
    this.used.clear();
    return taken;
  }

  /** Forgets the values of writes that failed. */
  lose(writes: readonly PendingWrite[]): void {
    for (const write of writes) this.seen.delete(idOf(write));
  }

  /** Removes the changes of one key, of an extension, or all. Returns the number of keys that only a write has created. */
  drop(extension?: string, key?: string): number {
    const matches = (it: StateAddress) => (extension ?? it.extension) === it.extension && (key ?? it.key) === it.key;
    let count = 0;
    for (const [id, used] of this.used) if (matches(used)) this.used.delete(id);
    for (const [id, write] of this.writes) {
      if (!matches(write)) continue;
      this.writes.delete(id);
      if (write.isNew) count += 1;
    }
    for (const id of this.seen.keys()) if (matches(addressOf(id))) this.seen.delete(id);
    return count;
  }
}

function idOf({ extension, key }: StateAddress): string {
  return JSON.stringify([extension, key]);
}

function addressOf(id: string): StateAddress {
  const [extension, key] = JSON.parse(id) as [string, string];
  return { extension, key };
}
