import type { BigIntStats } from 'node:fs';

const MOST_ENTRIES = 100_000;
/**
 * In nanoseconds. The next change of a file whose last change is longer ago is sure to give it another change time, so
 * a remembered hash can be trusted.
 */
const SETTLED_NS = 100_000_000n;
/** The same limit for file systems that store times in whole seconds, in nanoseconds. */
const COARSE_NS = 2_000_000_000n;
const SECOND_NS = 1_000_000_000n;

/**
 * Remembers the hashes of files by path, size and times of change. Remembered hashes are used for decisions only: the
 * content is hashed again right before each start.
 */
export class FileHashes {
  private readonly byPath = new Map<string, { readonly mark: string; readonly sha256: string }>();

  get(path: string, stats: BigIntStats): string | undefined {
    const known = this.byPath.get(path);
    return known?.mark === markOf(stats) ? known.sha256 : undefined;
  }

  put(path: string, stats: BigIntStats, sha256: string): void {
    const { ctimeNs } = stats;
    const settled = ctimeNs % SECOND_NS === 0n ? COARSE_NS : SETTLED_NS;
    const isSettled = BigInt(Date.now()) * 1_000_000n - ctimeNs >= settled;
    if (isSettled && (this.byPath.size < MOST_ENTRIES || this.byPath.has(path))) {
      this.byPath.set(path, { mark: markOf(stats), sha256 });
    }
  }
}

function markOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join();
}
