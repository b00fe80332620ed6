import { KnownState } from './known-state.js';
import type { PendingChanges } from './pending-changes.js';
import type { StoreAccess } from './store-access.js';
import type { StateSite } from './store-calls.js';

/** Values that were read longer ago are read again, so that a long run sees the writes of other processes. */
const REFRESH_MS = 10_000;

/** The session of a view, and the changes that the store does not have yet. */
export interface ViewSource {
  readonly session: string;
  readonly access: StoreAccess;
  readonly changes: PendingChanges;
  /** Sends the changes to the store. */
  readonly flush: (site: StateSite) => Promise<void>;
}

/** The known state of a session. Reads it from the store when it is first needed, and again when it is old. */
export class SessionView {
  private readonly extensions = new Set<string>();
  private known: KnownState | undefined = undefined;
  private knownAt = Number.NEGATIVE_INFINITY;
  private reading: Promise<KnownState> | undefined = undefined;
  /** Grows when values become unknown. A read that was started before is out of date. */
  private version = 0;

  /** While `isLocal` is true, the store has no state of the session, and is not read. */
  constructor(
    private readonly source: ViewSource,
    public isLocal: boolean,
  ) {}

  /** Adds extensions whose values the next read includes. */
  include(extensions: Iterable<string>): void {
    for (const extension of extensions) this.extensions.add(extension);
  }

  /** Returns the known state. Reads it first if it is unknown or old. */
  async open(site: StateSite): Promise<KnownState> {
    if (this.known === undefined && this.isLocal) this.remember(new KnownState(0, true));
    const isFresh = this.isLocal || site.clock.now() < this.knownAt + REFRESH_MS;
    if (this.known !== undefined && isFresh) return this.known;
    this.reading ??= this.read(site).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** Makes all values unknown. */
  forget(): void {
    this.version += 1;
    this.known = undefined;
  }

  private async read(site: StateSite): Promise<KnownState> {
    const { session, access, flush } = this.source;
    await flush(site);
    for (;;) {
      const { version } = this;
      const view = await access.peek(session, [...this.extensions], site);
      // Values were removed while the store read them.
      if (version !== this.version) continue;
      this.knownAt = site.clock.now();
      return this.remember(KnownState.of(view));
    }
  }

  private remember(known: KnownState): KnownState {
    for (const { extension, key, value } of this.source.changes.list()) known.put({ extension, key, value });
    this.known = known;
    return known;
  }
}
