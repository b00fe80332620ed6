import { entryBytes } from '../../state/state-key.js';
import type { StateChange, StatePolicy, StateView } from '../../state/state-store.js';

/** A value of an extension. */
export interface KnownEntry {
  readonly extension: string;
  readonly key: string;
  readonly value: string;
}

interface KnownScope {
  /** A key with the value undefined is known to be absent. */
  readonly values: Map<string, string | undefined>;
  /** True if all other keys are known to be absent. */
  readonly isComplete: boolean;
  bytes: number;
}

/** The values and sizes of one session as far as a process knows them. */
export class KnownState {
  private readonly scopes = new Map<string, KnownScope>();

  /** `isEmpty` is true if extensions that `view` does not name have no state. */
  constructor(
    private bytes: number,
    private readonly isEmpty: boolean,
  ) {}

  /** Returns the state that a store has read. */
  static of({ bytes, extensions, values, complete }: StateView): KnownState {
    const known = new KnownState(bytes, false);
    for (const extension of [...Object.keys(extensions), ...complete]) {
      const isComplete = complete.includes(extension);
      known.scopes.set(extension, { values: new Map(), isComplete, bytes: extensions[extension] ?? 0 });
    }
    for (const { extension, key, value } of values) known.scopeOf(extension).values.set(key, value);
    return known;
  }

  /** Returns the value of a key, null if the key is absent, or undefined if the process does not know. */
  get({ extension, key }: Omit<KnownEntry, 'value'>): string | null | undefined {
    const { values, isComplete } = this.scopeOf(extension);
    return values.has(key) || isComplete ? (values.get(key) ?? null) : undefined;
  }

  /** Notes a value that was read from the store. */
  learn({ extension, key }: Omit<KnownEntry, 'value'>, value: string | null): void {
    this.scopeOf(extension).values.set(key, value ?? undefined);
  }

  /** Returns true if the store can keep the value without an eviction. */
  fits(entry: KnownEntry, { extensionBytes, sessionBytes }: StatePolicy): boolean {
    const added = this.addedBy(entry);
    return this.scopeOf(entry.extension).bytes + added <= extensionBytes && this.bytes + added <= sessionBytes;
  }

  /** Notes a write. Returns its effect on the sizes. */
  put(entry: KnownEntry): StateChange {
    const added = this.addedBy(entry);
    const scope = this.scopeOf(entry.extension);
    scope.values.set(entry.key, entry.value);
    scope.bytes += added;
    this.bytes += added;
    return { stored: true, evicted: [], bytesBefore: this.bytes - added, bytesAfter: this.bytes };
  }

  private addedBy({ extension, key, value }: KnownEntry): number {
    const old = this.scopeOf(extension).values.get(key);
    return entryBytes(key, value) - (old === undefined ? 0 : entryBytes(key, old));
  }

  private scopeOf(extension: string): KnownScope {
    let scope = this.scopes.get(extension);
    if (scope === undefined) {
      scope = { values: new Map(), isComplete: this.isEmpty, bytes: 0 };
      this.scopes.set(extension, scope);
    }
    return scope;
  }
}
