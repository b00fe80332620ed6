import { join, resolve } from 'node:path';
import type { Clock } from '../../../internal/clock.js';
import type { OptionTable } from '../../../internal/options/validate.js';
import { NOT_STORED } from '../../../state/memory-session-store.js';
import type { Entry } from '../../../state/record/entry.js';
import { copyDetails } from '../../../state/session-details.js';
import { comparePositions, cursorOf, type ListPosition, resolveSessionQuery } from '../../../state/session-list.js';
import type {
  AppendAnswer,
  ClaimAnswer,
  PostAnswer,
  RecordQuery,
  SessionAppend,
  SessionClaim,
  SessionDetails,
  SessionPage,
  SessionQuery,
  SessionRenewal,
  SessionStore,
  SessionSummary,
  StoredRecord,
} from '../../../state/session-store.js';
import { StoreCorruptError } from '../../store-error.js';
import { type FileOptions, fileRules, resolveFileOptions } from '../options.js';
import type { VaultStep } from '../step.js';
import { FileVault } from '../vault.js';
import { addEntries, copyEntries } from './add-entries.js';
import { headOf, sessionForm } from './form.js';
import { OwnerIndex } from './owner-index.js';
import type { SessionFile } from './session-file.js';
import { holdClaim, readSummary, SessionSideFiles } from './side-files.js';

/** Options of a FileSessionStore. */
export interface FileSessionStoreOptions extends FileOptions {
  /** Milliseconds after its last use until a session expires and is deleted. Default: never. */
  readonly ttlMs?: number | undefined;
}

const rules = {
  ...fileRules,
  ttlMs: { expected: 'a number of milliseconds above 0', accepts: (value) => typeof value === 'number' && value > 0 },
} satisfies OptionTable<FileSessionStoreOptions>;

/** Reads the summary of a session. Returns undefined if it has no entries. */
const summaryStep: VaultStep<SessionFile, SessionSummary | undefined> = {
  reads: true,
  run: ({ state: { id, log } }) => (log.length === 0 ? undefined : log.summary(id)),
};

/**
 * Stores sessions in files. After a call has resolved, its entries survive if the process is killed. Any number of
 * processes may use the directory at once.
 *
 * An append writes only new entries, and a run reads only the entries that its model needs. A damaged file causes a
 * StoreCorruptError, and is left unchanged. A file of an earlier version causes a StoreOutdatedError.
 *
 * A run claims a session before it adds entries. On Linux, no other process on the same machine can take over an
 * expired claim while the process of the claim is alive. This protection ends after ten times the lifetime of the
 * claim.
 *
 * @example
 * const store = new FileSessionStore({ folder: './sessions' });
 * const agent = new Agent({ model, store });
 * await using session = await agent.session({ id: 'ada' });
 */
export class FileSessionStore implements SessionStore {
  private readonly vault: FileVault<SessionFile>;
  private readonly index: OwnerIndex;
  private readonly folder: string;
  private readonly clock: Clock;
  private readonly ttlMs: number;

  constructor(options: FileSessionStoreOptions) {
    const resolved = resolveFileOptions(options, rules);
    const { ttlMs = Number.POSITIVE_INFINITY } = options;
    this.folder = resolve(resolved.folder);
    this.clock = resolved.clock;
    this.ttlMs = ttlMs;
    this.index = new OwnerIndex(join(this.folder, 'owners'));
    this.vault = new FileVault({ ...resolved, form: sessionForm, files: new SessionSideFiles(this.index) });
  }

  async claim(id: string, claim: SessionClaim): Promise<ClaimAnswer> {
    copyDetails(claim.details ?? {});
    return this.vault.run(id, {
      creates: true,
      needsAll: ({ log }) => log.load({ known: claim.known, from: 'context' }).offset < log.start,
      run: ({ state, now, write }) => {
        const { log } = state;
        const { uid, details } = log;
        state.end = now + this.ttlMs;
        const answer = log.claim(claim, now, now < state.keptUntil);
        if (!answer.claimed) return answer;
        state.id = id;
        holdClaim(state, claim.ttlMs);
        if (uid === '') write([headOf(['create', id, log.uid, now, log.details])], true);
        else if (JSON.stringify(log.details) !== JSON.stringify(details))
          write([headOf(['details', log.details])], true);
        return answer;
      },
    });
  }

  async append(id: string, append: SessionAppend): Promise<AppendAnswer> {
    const copies = copyEntries(append.entries);
    const entries = [...copies.keys()];
    const answer = await this.use(id, {
      needsAll: (session) => append.length < session.log.start || session.hasOlder(entries),
      run: (draft) =>
        addEntries(draft, copies, (added) => draft.state.log.append({ ...append, entries }, draft.now, added)),
    });
    return answer ?? NOT_STORED;
  }

  async renew(id: string, claim: SessionRenewal): Promise<boolean> {
    const isRenewed = await this.use(id, {
      run: ({ state, now }) => {
        if (!state.log.renew(claim, now)) return false;
        holdClaim(state, claim.ttlMs);
        return true;
      },
    });
    return isRenewed ?? false;
  }

  async post(id: string, post: Entry): Promise<PostAnswer | undefined> {
    const copies = copyEntries([post]);
    const [copy] = copies.keys();
    return this.use(id, {
      needsAll: (session) => session.hasOlder([post]),
      run: (draft) => addEntries(draft, copies, (added) => draft.state.log.post(copy ?? post, draft.now, added)),
    });
  }

  async load(id: string, query?: RecordQuery): Promise<StoredRecord | undefined> {
    return this.use(id, {
      reads: true,
      needsAll: ({ log }) => log.load(query).offset < log.start,
      run: ({ state }) => state.log.load(query),
    });
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    const { owner, limit, after } = resolveSessionQuery(query);
    const all = (await this.index.list(owner)) ?? (await this.buildIndex(owner));
    const later = all.filter((it) => after === undefined || comparePositions(after, it) < 0).sort(comparePositions);
    const sessions: SessionSummary[] = [];
    let last: ListPosition | undefined;
    for (const position of later) {
      const summary = await this.listed(position.id, owner);
      if (summary === undefined) continue;
      if (sessions.length === limit) return { sessions, next: last && cursorOf(last) };
      sessions.push(summary);
      last = position;
    }
    return { sessions, next: undefined };
  }

  async update(id: string, details: Omit<SessionDetails, 'owner'>): Promise<SessionSummary | undefined> {
    copyDetails(details);
    return this.vault.run(id, {
      run: ({ state: { log }, write }) => {
        if (log.length === 0) return undefined;
        if (log.update(details)) write([headOf(['details', log.details])], true);
        return log.summary(id);
      },
    });
  }

  async delete(id: string): Promise<void> {
    await this.vault.remove(id);
  }

  /**
   * Runs a step on a session, and restarts the lifetime of the session. Returns undefined if the session is not stored.
   */
  private async use<Result>(id: string, step: VaultStep<SessionFile, Result>): Promise<Result | undefined> {
    return this.vault.run(id, {
      ...step,
      run: (draft) => {
        const { state, now } = draft;
        if (state.log.uid === '') return undefined;
        state.end = now + this.ttlMs;
        return step.run(draft);
      },
    });
  }

  /**
   * Returns the summary of a session that the index contains. If the session is deleted or has another owner, removes
   * it from the index and returns undefined.
   */
  private async listed(name: string, owner: string): Promise<SessionSummary | undefined> {
    const stored = await readSummary(join(this.folder, name)).catch(() => undefined);
    const isCurrent = stored !== undefined && (stored.end ?? Number.POSITIVE_INFINITY) > this.clock.now();
    if (isCurrent && stored.summary.owner === owner) return stored.summary;
    try {
      const summary = await this.vault.runNamed(name, summaryStep);
      if (summary?.owner === owner) return summary;
      await this.index.remove(owner, name);
    } catch (error) {
      if (!(error instanceof StoreCorruptError)) throw error;
    }
    return undefined;
  }

  /**
   * Reads all sessions and adds them to the index, because the directory of an earlier version has no index. Returns
   * the sessions of the owner.
   */
  private async buildIndex(owner: string): Promise<ListPosition[]> {
    const found = await this.vault.runAll(summaryStep, { skipsDamaged: true });
    const summaries = found.filter((summary) => summary !== undefined);
    const names = new Map(summaries.map((summary) => [summary, this.vault.nameOf(summary.id)]));
    try {
      for (const [summary, name] of names) await this.index.add(summary, name);
      if (names.size > 0) await this.index.markComplete();
    } catch {
      // The directory is read-only or full, so the next call of `list` reads all sessions again.
    }
    const mine = [...names].filter(([summary]) => summary.owner === owner);
    return mine.map(([{ updatedAt }, id]) => ({ updatedAt, id }));
  }
}
