import { checkStateKey } from '../../state/state-key.js';
import type { SessionStateEntry, StateChange, StateEntry, StateScope } from '../../state/state-store.js';
import { type CachedValue, CachedValues } from './cached-values.js';
import type { StoreAccess } from './store-access.js';
import type { StateSite } from './store-calls.js';

/** After this time, values are read from the store again, so that a long run sees the writes of other processes. */
const REFRESH_MS = 10_000;

/** The result of a write, which the next flush may send to the store. */
type WriteResult = Pick<StateChange, 'conflict'>;

/**
 * The state of one session during its runs in this process. Reads the values of all extensions in one call when a
 * callback first needs state, and writes in one call at the end of a run.
 */
export class SessionCache {
  /** The number of runs that use the cache. */
  runs = 0;
  readonly values: CachedValues;
  /** The extensions whose values the next read includes. */
  private readonly wanted = new Set<string>();
  private reading: Promise<void> | undefined = undefined;
  private readonly unfinished = new Set<Promise<unknown>>();
  private flushing: Promise<void> = Promise.resolve();

  /**
   * `isNew` is true for a session that exists only for one run. The store has no state of the session before the run,
   * and the run removes the session's state at the end.
   */
  constructor(
    private readonly session: string,
    private readonly access: StoreAccess,
    private readonly isNew: boolean,
  ) {
    this.values = new CachedValues(isNew);
  }

  /** Begins a run. The next read includes the values of its extensions. */
  enter(extensions: Iterable<string>): void {
    for (const extension of extensions) this.wanted.add(extension);
    this.runs += 1;
  }

  get(scope: StateScope, key: string, site: StateSite): Promise<string | undefined> {
    return this.during(this.read(scope, key, site));
  }

  /** Writes a value at once if it has a condition or may exceed a limit, otherwise with the next flush. */
  set(scope: StateScope, entry: StateEntry, site: StateSite): Promise<WriteResult> {
    return this.during(this.write(scope, entry, site));
  }

  clear(scope: StateScope, key: string | undefined, site: StateSite): Promise<number> {
    return this.during(this.remove(scope, key, site));
  }

  flush(site: StateSite): Promise<void> {
    const flushed = this.flushing.then(() => this.send(site));
    this.flushing = flushed.catch(() => {});
    return flushed;
  }

  /** Ends a run: waits for its calls, and sends its writes. A session of this run only is deleted instead. */
  async finish(site: StateSite): Promise<void> {
    while (this.unfinished.size > 0) await Promise.allSettled(this.unfinished);
    if (!this.isNew) return this.flush(site);
    await this.flushing;
    if (!this.values.isLocal) await this.access.clearSession(this.session, site);
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
    const entry = await this.open(scope, key, site);
    const known = this.values.valueOf(entry);
    if (known === undefined) {
      const stored = (await this.access.get(scope, key, site)) ?? null;
      // A write in the meantime has set the value.
      if (entry.value === undefined) entry.value = stored;
    } else if (known !== null && entry.pending === undefined) entry.isUsed = true;
    entry.seen = this.values.valueOf(entry);
    return entry.seen ?? undefined;
  }

  private async write(scope: StateScope, given: StateEntry, site: StateSite): Promise<WriteResult> {
    const entry = await this.open(scope, given.key, site);
    const { values, access } = this;
    const { value, ifValue } = given;
    const fits = values.fits(entry, value, access.policy);
    if (fits && values.isLocal) {
      // No other process can change a session that exists only for this run.
      if (ifValue !== undefined && values.valueOf(entry) !== ifValue) return { conflict: true };
      access.accept(scope, { entry: given, change: values.putLater(entry, value) }, site.logger);
      return {};
    }
    if (fits && ifValue === undefined) {
      values.putLater(entry, value);
      return {};
    }
    // The store can only compare and evict values that it has, so pending writes are sent first.
    if (entry.pending !== undefined || (!fits && values.list('pending').length > 0)) await this.flush(site);
    values.isLocal = false;
    const change = await access.set(scope, given, site);
    // Makes a read that has already started begin again, because it may return the value from before the write.
    values.version += 1;
    if (!change.conflict) values.put(entry, value);
    if (!isPlain(change)) this.values.forget();
    return change;
  }

  private async remove(scope: StateScope, key: string | undefined, site: StateSite): Promise<number> {
    if (key !== undefined) checkStateKey(key);
    await this.flushing;
    const dropped = this.values.drop(scope.extension, key);
    if (this.values.isLocal) return dropped;
    try {
      return dropped + (await this.access.clear(scope, key, site));
    } finally {
      this.values.forget();
    }
  }

  /** Returns the value of a key. Reads the session first if it was not read yet, or was read too long ago. */
  private async open({ extension }: StateScope, key: string, site: StateSite): Promise<CachedValue> {
    checkStateKey(key);
    if (!this.values.isLocal && site.clock.now() >= this.values.readAt + REFRESH_MS) {
      this.reading ??= this.load(site).finally(() => {
        this.reading = undefined;
      });
      await this.reading;
    }
    return this.values.at({ extension, key });
  }

  private async load(site: StateSite): Promise<void> {
    await this.flush(site);
    for (;;) {
      const { version } = this.values;
      const view = await this.access.peek(this.session, [...this.wanted], site);
      // Values were written or removed while the store read them.
      if (version !== this.values.version) continue;
      return this.values.learn(view, site.clock.now());
    }
  }

  private async send(site: StateSite): Promise<void> {
    const writing = this.values.list('pending');
    const writes = writing.flatMap(({ pending }) => pending ?? []);
    const used = this.values.list('isUsed');
    if (writes.length + used.length === 0) return;
    for (const entry of writing) entry.pending = undefined;
    for (const entry of used) entry.isUsed = false;
    if (writes.length > 0) this.values.isLocal = false;
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
      for (const entry of writing) entry.seen = undefined;
      this.values.forget();
      throw error;
    }
  }

  /** Returns the writes that were refused because the value had changed since it was read. */
  private async apply(
    writes: readonly SessionStateEntry[],
    used: readonly CachedValue[],
    site: StateSite,
  ): Promise<readonly SessionStateEntry[]> {
    const batch = {
      session: this.session,
      entries: writes.map(({ extension, key, value, ifValue }) => ({ extension, key, value, ifValue })),
      used: used.map(({ extension, key }) => ({ extension, key })),
    };
    const changes = await this.access.apply(batch, site);
    if (!changes.every(isPlain)) this.values.forget();
    return writes.filter((write, index) => {
      const change = changes[index];
      if (change === undefined || change.conflict) return change?.conflict === true;
      this.access.settle({ extension: write.extension, session: this.session }, { entry: write, change }, site.logger);
      return false;
    });
  }
}

/** True if the write changed only its own value. */
function isPlain({ stored, evicted }: StateChange): boolean {
  return stored && evicted.length === 0;
}
