import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FRESH, TRASH } from '../../process/files/folder-lock.js';

/**
 * Number of directories that each call of the store checks. One call adds at most one directory, so expired directories
 * do not accumulate.
 */
const CHECKED_PER_STEP = 2;
/** Minimum number of milliseconds between two listings of the directory. */
const LIST_MS = 60_000;
/**
 * Milliseconds after which an incomplete directory is removed. A process that is killed while it creates a directory
 * leaves one.
 */
const UNFINISHED_MS = 600_000;

/**
 * Finds the directories of expired sessions, a few at a time. Needs no timer, because each call of the store runs one
 * step.
 */
export class FolderSweep {
  private names: string[] = [];
  private listedAt = Number.NEGATIVE_INFINITY;

  /** Checks the directories in `folder` whose names start with `prefix`. */
  constructor(
    private readonly folder: string,
    private readonly prefix: string,
  ) {}

  /**
   * Checks the next directories. Returns the names of the directories whose sessions have expired. Removes directories
   * that a killed process left incomplete.
   */
  async step(now: number): Promise<string[]> {
    const expired: string[] = [];
    for (const name of await this.next(now)) {
      if (name.startsWith(TRASH)) await this.remove(name);
      else if (name.startsWith(FRESH)) await this.removeOld(name);
      else if (await this.isExpired(name, now)) expired.push(name);
    }
    return expired;
  }

  private async next(now: number): Promise<string[]> {
    if (this.names.length === 0 && Math.abs(now - this.listedAt) >= LIST_MS) {
      this.listedAt = now;
      const names = await readdir(this.folder).catch(() => []);
      this.names = names.filter((name) => [this.prefix, TRASH, FRESH].some((start) => name.startsWith(start)));
    }
    return this.names.splice(-CHECKED_PER_STEP);
  }

  /**
   * Returns true if the session has expired, or if the directory has no log. The store sets the modification time of
   * the log to the time at which the session expires.
   */
  private async isExpired(name: string, now: number): Promise<boolean> {
    const end = await stat(join(this.folder, name, 'log')).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    return end <= now;
  }

  private async removeOld(name: string): Promise<void> {
    const { mtimeMs } = await stat(join(this.folder, name));
    if (Date.now() - mtimeMs > UNFINISHED_MS) await this.remove(name);
  }

  private async remove(name: string): Promise<void> {
    await rm(join(this.folder, name), { recursive: true, force: true });
  }
}
