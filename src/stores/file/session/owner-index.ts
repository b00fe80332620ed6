import { createHash } from 'node:crypto';
import { access, mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../../process/files/error-code.js';
import type { ListPosition } from '../../../state/session-list.js';
import type { SessionSummary } from '../../../state/session-store.js';

/** The content of the file for a session. It is not empty, because clean-up tools delete empty files. */
const MARKER_TEXT = 'The time of this file is the time of the last entry of the session.\n';
const COMPLETE_TEXT = 'All sessions of this store are in this index.\n';

/**
 * An index of the sessions of each owner. Each owner has a directory with one file per session. The file has the name
 * of the session's directory, and its modification time is the time of the last entry.
 *
 * The index may contain a session that was deleted.
 */
export class OwnerIndex {
  private readonly complete: string;

  constructor(private readonly folder: string) {
    this.complete = join(folder, 'complete');
  }

  /** Adds a session, or updates the time of its last entry. Does nothing for a session without an owner. */
  async add({ owner, updatedAt }: SessionSummary, name: string): Promise<void> {
    if (owner === undefined) return;
    const folder = this.folderOf(owner);
    const path = join(folder, name);
    const time = updatedAt / 1000;
    try {
      await utimes(path, time, time);
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(path, MARKER_TEXT, { mode: 0o600 });
      await utimes(path, time, time);
    }
  }

  /**
   * Removes a session from the index. Ignores failures, because `FileSessionStore.list` checks each session of the
   * index.
   */
  async remove(owner: string, name: string): Promise<void> {
    await rm(join(this.folderOf(owner), name), { force: true }).catch(() => {});
  }

  /**
   * Returns the sessions of an owner, unsorted. The `id` of each is the name of its directory. Returns undefined if the
   * index may lack sessions.
   */
  async list(owner: string): Promise<ListPosition[] | undefined> {
    const folder = this.folderOf(owner);
    const names = await readdir(folder).catch(() => []);
    const isComplete = await access(this.complete).then(
      () => true,
      () => false,
    );
    if (!isComplete) return undefined;
    const times = await Promise.all(names.map((name) => stat(join(folder, name)).catch(() => undefined)));
    return names.flatMap((id, at) => {
      const mtimeMs = times[at]?.mtimeMs;
      // File systems store times with a rounding error.
      return mtimeMs === undefined ? [] : [{ id, updatedAt: Math.round(mtimeMs) }];
    });
  }

  /** Records that the index contains all sessions. Before that, `list` returns undefined. */
  async markComplete(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await writeFile(this.complete, COMPLETE_TEXT, { mode: 0o600 });
  }

  private folderOf(owner: string): string {
    return join(this.folder, createHash('sha256').update(JSON.stringify(owner)).digest('hex'));
  }
}
