import { checkStateKey } from '../../state/state-key.js';
import type { StateChange, StateEntry, StateScope } from '../../state/state-store.js';
import type { KnownEntry, KnownState } from './known-state.js';
import { PendingChanges, type PendingWrite, type StateAddress } from './pending-changes.js';
import { SessionView } from './session-view.js';
import type { StoreAccess } from './store-access.js';
import type { StateSite } from './store-calls.js';

/**
 * The result of a write: the store has the value, gets it with the next flush, or refused it because of its condition.
 */
export type WriteResult = 'stored' | 'pending' | 'conflict';

/**
 * The state of one session during its runs in this process. Reads the values of all extensions in one call when a
 * callback first needs state, and writes in one call at the end of a run.
 */
export class SessionBuffer {
  /** The number of runs that use the buffer. */
  runs = 0;
  private readonly unfinished = new Set<Promise<unknown>>();
  private readonly changes = new PendingChanges();
  private readonly view: SessionView;
  private flushing: Promise<void> = Promise.resolve();

  /** `isNew` is true if the session has no state in the store, and ends with the run. */
  constructor(
    private readonly session: string,
    private readonly access: StoreAccess,
    private readonly isNew: boolean,
  ) {
    const source = { session, access, changes: this.changes, flush: (site: StateSite) => this.flush(site) };
    this.view = new SessionView(source, isNew);
  }

  /** Begins a run. The next read includes the values of its extensions. */
  enter(extensions: Iterable<string>): void {
    this.view.include(extensions);
    this.runs += 1;
  }

  get(scope: StateScope, key: string, site: StateSite): Promise<string | undefined> {
    return this.during(this.read(scope, key, site));
  }

  /** Writes a value at once if it has a condition or may exceed a limit, otherwise with the next flush. */
  set(scope: StateScope, entry: StateEntry, site: StateSite): Promise<WriteResult> {
    return this.during(this.write(scope, entry, site));
  }

  /** Removes a value, or all values of the extension. Resolves to the number of removed values. */
  clear(scope: StateScope, key: string | undefined, site: StateSite): Promise<number> {
    return this.during(this.remove(scope, key, site));
  }

  /** Sends the changes to the store. Rejects with StateStoreError. */
  flush(site: StateSite): Promise<void> {
    const flushed = this.flushing.then(() => this.send(site));
    this.flushing = flushed.catch(ignore);
    return flushed;
  }

  /** Ends a run: waits for its calls, and sends its changes. Removes the state of a session that ends with the run. */
  async finish(site: StateSite): Promise<void> {
    while (this.unfinished.size > 0) await Promise.allSettled(this.unfinished);
    if (!this.isNew) return this.flush(site);
    await this.flushing;
    if (!this.view.isLocal) await this.access.clearSession(this.session, site);
  }

  /** Forgets the values of one key, of an extension, or all, also pending ones. Returns the number of new keys. */
  drop(extension?: string, key?: string): number {
    this.view.forget();
    return this.changes.drop(extension, key);
  }

  private async during<T>(work: Promise<T>): Promise<T> {
    this.unfinished.add(work);
    try {
      return await work;
    } finally {
      this.unfinished.delete(work);
    }
  }

  private async read(scope: StateScope, key: string, site: StateSite): Promise<string | undefined> {
    checkStateKey(key);
    const address = { extension: scope.extension, key };
    const known = await this.view.open(site);
    let value = known.get(address);
    if (value === undefined) {
      value = (await this.access.get(scope, key, site)) ?? null;
      known.learn(address, value);
    } else if (value !== null && this.changes.of(address) === undefined) {
      this.changes.use(address);
    }
    value = this.changes.of(address)?.value ?? value;
    this.changes.see(address, value);
    return value ?? undefined;
  }

  private async write(scope: StateScope, entry: StateEntry, site: StateSite): Promise<WriteResult> {
    checkStateKey(entry.key);
    const written = { extension: scope.extension, key: entry.key, value: entry.value };
    const known = await this.view.open(site);
    const fits = known.fits(written, this.access.policy);
    if (fits && this.view.isLocal) return this.writeLocally(scope, { entry, known }, site);
    if (fits && entry.ifValue === undefined) {
      this.note(written, { known, calls: 1 });
      return 'pending';
    }
    // The store compares the value, and evicts other values, only by what it has.
    if (this.changes.of(written) !== undefined || (!fits && this.changes.hasWrites)) await this.flush(site);
    return this.writeThrough(scope, entry, site);
  }

  /** Writes the state of a session that ends with the run. No other process can change it. */
  private writeLocally(
    scope: StateScope,
    { entry, known }: { readonly entry: StateEntry; readonly known: KnownState },
    { logger }: StateSite,
  ): WriteResult {
    const { key, value, ifValue } = entry;
    const written = { extension: scope.extension, key, value };
    if (ifValue !== undefined && known.get(written) !== ifValue) return 'conflict';
    this.access.accept(scope, { entry, change: this.note(written, { known, calls: 0 }) }, logger);
    return 'stored';
  }

  private note(
    entry: KnownEntry,
    { known, calls }: { readonly known: KnownState; readonly calls: number },
  ): StateChange {
    this.changes.write(entry, { isNew: known.get(entry) === null, calls });
    return known.put(entry);
  }

  private async writeThrough(scope: StateScope, entry: StateEntry, site: StateSite): Promise<WriteResult> {
    this.view.isLocal = false;
    const written = { extension: scope.extension, key: entry.key, value: entry.value };
    const change = await this.access.set(scope, entry, site);
    if (isPlain(change)) (await this.view.open(site)).put(written);
    else this.view.forget();
    if (change.conflict) return 'conflict';
    this.changes.wrote(written);
    return 'stored';
  }

  private async remove(scope: StateScope, key: string | undefined, site: StateSite): Promise<number> {
    if (key !== undefined) checkStateKey(key);
    await this.flushing;
    const dropped = this.drop(scope.extension, key);
    if (this.view.isLocal) return dropped;
    try {
      return dropped + (await this.access.clear(scope, key, site));
    } finally {
      this.view.forget();
    }
  }

  private async send(site: StateSite): Promise<void> {
    await this.access.idle();
    const { writes, used } = this.changes.take();
    if (writes.length + used.length === 0) return;
    if (writes.length > 0) this.view.isLocal = false;
    try {
      const conflicts = await this.apply(writes, used, site);
      if (conflicts.length === 0) return;
      for (const { extension, key } of conflicts) {
        const details = { extensionId: extension, session: this.session, key };
        const change = `State "${key}" of extension "${extension}" was overwritten`;
        site.logger.warn(`${change}, although it had changed since this run read it. Use \`updateState\`.`, details);
      }
      const repeated = conflicts.map((write) => ({ ...write, ifValue: undefined }));
      await this.apply(repeated, [], site);
    } catch (error) {
      this.changes.lose(writes);
      this.view.forget();
      throw error;
    }
  }

  /** Returns the writes that were refused because the value had changed since it was read. */
  private async apply(
    writes: readonly PendingWrite[],
    used: readonly StateAddress[],
    site: StateSite,
  ): Promise<readonly PendingWrite[]> {
    const entries = writes.map(({ calls: _calls, isNew: _isNew, ...entry }) => entry);
    const changes = await this.access.apply({ session: this.session, entries, used }, site);
    if (!changes.every(isPlain)) this.view.forget();
    return writes.filter((write, index) => {
      const change = changes[index];
      if (change === undefined || change.conflict) return change?.conflict === true;
      this.access.settle(this.session, { write, change }, site.logger);
      return false;
    });
  }
}

/** True if the write changed nothing but its value. */
function isPlain({ stored, evicted }: StateChange): boolean {
  return stored && evicted.length === 0;
}

function ignore(): void {}
