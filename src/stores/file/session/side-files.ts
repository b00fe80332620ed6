import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { newOwner, ownerState } from '../../../process/files/lock-owner.js';
import type { SessionSummary } from '../../../state/session-store.js';
import { type HeldClaim, KEPT_LIFETIMES } from '../../../state/stored-log.js';
import type { LogFile } from '../log.js';
import { readSmallFile, replaceSmallFile } from '../small-file.js';
import type { SideFiles } from '../vault.js';
import { writeBookmark } from './bookmark.js';
import type { OwnerIndex } from './owner-index.js';
import type { SessionFile } from './session-file.js';

const CLAIM = 'claim';
const SUMMARY = 'summary';
/** Identifies this process as the holder of claims. */
const thisProcess = newOwner();

/** The JSON in the file `claim`: the claim of a session, and the process that holds it. */
interface StoredClaim extends HeldClaim {
  readonly uid: string;
  readonly process: string;
  readonly ttlMs: number;
}

/** The JSON in the file `summary`: the summary of a session, and the time at which it expires. */
export interface StoredSummary {
  readonly uid: string;
  /** Null means never, because JSON cannot represent Infinity. */
  readonly end: number | null;
  readonly summary: SessionSummary;
}

/** Records that this process holds the claim of the session. */
export function holdClaim(session: SessionFile, ttlMs: number): void {
  session.origin = { process: thisProcess, ttlMs };
  session.keptUntil = 0;
}

/** Reads the file `summary` of a session. Returns undefined if it is missing or damaged. */
export async function readSummary(folder: string): Promise<StoredSummary | undefined> {
  const [json] = (await readSmallFile(join(folder, SUMMARY))) ?? [];
  return json === undefined ? undefined : JSON.parse(json);
}

/**
 * The small files beside the log of a session: its claim, its summary with the time at which it expires, and its
 * bookmark.
 *
 * Each file names the session or the log that it belongs to, and is ignored for any other.
 */
export class SessionSideFiles implements SideFiles<SessionFile> {
  constructor(private readonly index: OwnerIndex) {}

  async read({ folder, state }: LogFile<SessionFile>): Promise<void> {
    if (state.log.uid === '') return;
    await readClaim(folder, state);
    if (state.saved.summary === '' || Number.isFinite(state.end)) await readEnd(folder, state);
  }

  /**
   * Rejects only if the claim cannot be stored. If another file cannot be stored, the next use of the session stores
   * it.
   */
  async write(log: LogFile<SessionFile>, check: () => Promise<void>): Promise<void> {
    await writeClaim(log, check);
    await this.writeSummary(log, check).catch(() => {});
    await writeBookmark(log, check).catch(() => {});
  }

  async remove(folder: string): Promise<void> {
    const stored = await readSummary(folder).catch(() => undefined);
    const owner = stored?.summary.owner;
    if (owner === undefined) return;
    // Deletes the summary, so that the session is added to the index again if its directory is not removed after all.
    await rm(join(folder, SUMMARY), { force: true }).catch(() => {});
    await this.index.remove(owner, basename(folder));
  }

  private async writeSummary({ folder, state }: LogFile<SessionFile>, check: () => Promise<void>): Promise<void> {
    const { id, log, end } = state;
    const summary = log.summary(id);
    const json = JSON.stringify({ uid: log.uid, end, summary });
    if (json === state.saved.summary) return;
    // The summary is stored last, so an up-to-date summary means that the index is up to date.
    if (summary.length > 0) await this.index.add(summary, basename(folder));
    await replaceSmallFile(join(folder, SUMMARY), [json], check);
    state.saved.summary = json;
  }
}

async function readClaim(folder: string, session: SessionFile): Promise<void> {
  const [json = ''] = (await readSmallFile(join(folder, CLAIM))) ?? [];
  const stored: StoredClaim | undefined = json === '' ? undefined : JSON.parse(json);
  const isCurrent = stored?.uid === session.log.uid;
  session.saved.claim = isCurrent ? json : '';
  session.log.held = undefined;
  if (stored === undefined || !isCurrent) return;
  const { uid: _uid, process, ttlMs, ...held } = stored;
  session.log.held = held;
  session.origin = { process, ttlMs };
  const isAlive = (await ownerState(process)) === 'alive';
  session.keptUntil = isAlive ? held.until + (KEPT_LIFETIMES - 1) * ttlMs : 0;
}

async function writeClaim({ folder, state }: LogFile<SessionFile>, check: () => Promise<void>): Promise<void> {
  const { log, origin, saved } = state;
  const path = join(folder, CLAIM);
  const json = log.held === undefined ? '' : JSON.stringify({ uid: log.uid, ...log.held, ...origin });
  if (json === saved.claim) return;
  if (json === '') await check().then(() => rm(path, { force: true }));
  else await replaceSmallFile(path, [json], check);
  saved.claim = json;
}

/** Reads the time at which a session expires from its summary. Ignores a summary that is older than the log. */
async function readEnd(folder: string, session: SessionFile): Promise<void> {
  const stored = await readSummary(folder);
  if (stored?.uid !== session.log.uid || stored.summary.length !== session.log.length) return;
  session.saved.summary = JSON.stringify(stored);
  session.end = stored.end ?? Number.POSITIVE_INFINITY;
}
