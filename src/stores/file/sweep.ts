import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { FRESH, TRASH } from '../../process/files/folder-lock.js';

/** How many folders each step looks at: more than a call can add, so that dead ones do not pile up. */
const LOOKED_AT = 2;
/** A new list is read so often at most. */
const LIST_MS = 60_000;
/** A folder that was never finished is given up after so long. */
const UNFINISHED_MS = 600_000;

/** Goes through a folder bit by bit, and finds what is over. Has no timer: each call of the store takes it a step on. */
export class FolderSweep {
  private names: string[] = [];
  private listedAt = Number.NEGATIVE_INFINITY;

  /** Looks at the folders in `folder` whose names begin with `prefix`. */
  constructor(
    private readonly folder: string,
    private readonly prefix: string,
  ) {}

  /** Removes leftovers, and returns the names of those whose log says by its time that it is over. */
  async step(now: number): Promise<string[]> {
    const over: string[] = [];
    for (const name of await this.next(now)) {
      if (name.startsWith(TRASH)) await this.remove(name);
      else if (name.startsWith(FRESH)) await this.removeOld(name);
      else if (await this.isOver(name, now)) over.push(name);
    }
    return over;
  }

  private async next(now: number): Promise<string[]> {
    if (this.names.length === 0 && Math.abs(now - this.listedAt) >= LIST_MS) {
      this.listedAt = now;
      const names = await readdir(this.folder).catch(() => []);
      this.names = names.filter((name) => [this.prefix, TRASH, FRESH].some((start) => name.startsWith(start)));
    }
    return this.names.splice(-LOOKED_AT);
  }

  /** The time of a log is the end of its session; a folder without a log was never used. */
  private async isOver(name: string, now: number): Promise<boolean> {
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
