import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describeError } from '../../errors.js';
import { hasCode } from '../../process/files/error-code.js';
import { isInside } from '../../process/files/location.js';
import { ItemUnboundError } from '../error.js';
import type { BindingLimits } from '../item.js';
import type { FileHashes } from './file-hashes.js';

/** A file that is part of the fingerprint of an item. */
export type BoundFile = {
  /** The base directory: the extension package, the workspace, or for a user's item the directory of its definition. */
  readonly in: 'extension' | 'workspace' | 'definition';
  /** Path relative to the base directory, with `/` as separator. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** True if any user may execute the file. */
  readonly executable?: boolean;
  /** SHA-256 of the content in hexadecimal. For a link to a file, the hash of its target's content. */
  readonly sha256?: string;
  /** The target of a link as it is written. */
  readonly link?: string;
  /**
   * The path with links followed, relative to the base directory. Set only if it differs from `path`, and never for a
   * link without a target.
   */
  readonly target?: string;
};

/** Receives the content of each file exactly as it was hashed. */
type FileSink = (file: BoundFile, bytes: Buffer | undefined) => Promise<void>;

/** Either a sink, which gets the content of every file, or known hashes, whose files are not read again. */
export type FileReading =
  | { readonly sink?: FileSink | undefined; readonly hashes?: undefined }
  | { readonly hashes?: FileHashes | undefined; readonly sink?: undefined };

const UNREAD = Buffer.alloc(0);

const SEEN_PER_FILE = 20;
/** Time in milliseconds after which reading yields to other tasks. */
const TURN_MS = 10;

/** Counts files and bytes against the limits, for all directories of one item together. */
export class BindingBudget {
  private files = 0;
  private bytes = 0;
  private seen = 0;
  private turnBegan = performance.now();

  constructor(private readonly limits: BindingLimits) {}

  take(bytes: number): void {
    this.files += 1;
    this.bytes += bytes;
    const { limits } = this;
    if (this.files > limits.files || this.bytes > limits.bytes) this.refuse();
  }

  /** Counts a directory entry, even if it is not included. Yields to other tasks from time to time. */
  async see(): Promise<void> {
    this.seen += 1;
    if (this.seen > SEEN_PER_FILE * this.limits.files) this.refuse();
    if (performance.now() - this.turnBegan < TURN_MS) return;
    await setImmediate();
    this.turnBegan = performance.now();
  }

  private refuse(): never {
    const { files, bytes } = this.limits;
    throw new ItemUnboundError('too-large', `An item must have at most ${files} files and ${bytes} bytes.`);
  }
}

/** An entry of a directory. */
interface Entry {
  readonly path: string;
  /** The path with links resolved. For a link, the path of the link itself. */
  readonly real: string;
  readonly is: Pick<Stats, 'isDirectory' | 'isSymbolicLink' | 'isFile'>;
}

type Choice = (path: string) => boolean;

/**
 * Collects the files of one directory for a fingerprint. Throws for an unreadable file and for a link that leads
 * outside.
 *
 * Reads files synchronously, because asynchronous reads of many small files take ten times as long.
 */
export class BoundFolder {
  private readonly found = new Map<string, BoundFile>();
  /** Directories that were added with all their files. */
  private readonly whole = new Set<string>();

  /** `root` must be a path without links. */
  constructor(
    private readonly name: BoundFile['in'],
    readonly root: string,
    private readonly options: { readonly budget: BindingBudget } & FileReading,
  ) {}

  list(): readonly BoundFile[] {
    return [...this.found.values()];
  }

  get(path: string): BoundFile | undefined {
    return this.found.get(this.nameOf(path));
  }

  /** Adds a path. For a directory, adds everything inside, or only the files that `isWanted` accepts. */
  async add(path: string, isWanted?: Choice): Promise<void> {
    const is = reading(path, () => lstatSync(path));
    await this.addEntry({ path, real: this.resolve(path), is }, isWanted);
  }

  private async addEntry(entry: Entry, isWanted: Choice | undefined): Promise<void> {
    const { path, real, is } = entry;
    await this.options.budget.see();
    if (is.isDirectory()) return this.addFolder(entry, isWanted);
    if (isWanted?.(path) === false || this.get(path)) return;
    if (is.isSymbolicLink()) return this.addLink(path);
    const { bytes, ...content } = this.read(real);
    const file = { type: 'file', ...content } as const;
    await this.keep(path, real === path ? file : { ...file, target: this.nameOf(real) }, bytes);
  }

  private async addFolder({ path, real }: Entry, isWanted: Choice | undefined): Promise<void> {
    if (this.whole.has(path)) return;
    if (isWanted === undefined) this.whole.add(path);
    if (isWanted?.(path) !== false) await this.keep(path, { type: 'directory' });
    const entries = reading(path, () => readdirSync(path, { withFileTypes: true }));
    const names = new Set(entries.map(({ name }) => name));
    // Two names that are invalid UTF-8 may be decoded to the same string.
    if (names.size < entries.length)
      throw new ItemUnboundError('unreadable', `${path} contains file names that are invalid UTF-8.`);
    for (const is of entries) {
      await this.addEntry({ path: join(path, is.name), real: join(real, is.name), is }, isWanted);
    }
  }

  private async addLink(path: string): Promise<void> {
    const link = reading(path, () => readlinkSync(path));
    // Nothing can be read through a link without a target. A target that appears later changes the fingerprint.
    if (!reading(path, () => hasTarget(path))) return this.keep(path, { type: 'symlink', link });
    const target = this.resolve(path);
    const leads = { type: 'symlink', link, target: this.nameOf(target) } as const;
    if (reading(target, () => lstatSync(target)).isDirectory()) {
      await this.keep(path, leads);
      // Files in the target directory can be reached through the link.
      return this.add(target);
    }
    const { bytes, ...content } = this.read(target);
    await this.keep(path, { ...leads, ...content }, bytes);
  }

  /**
   * Returns the path with links followed. Throws an `ItemUnboundError` if it is missing or outside of the directory.
   */
  resolve(path: string): string {
    const target = reading(path, () => realpathSync.native(path));
    if (isInside(target, this.root)) return target;
    throw new ItemUnboundError('outside', `${path} leads to ${target}, which must lie inside ${this.root}.`);
  }

  private read(path: string): { bytes: Buffer; sha256: string; executable: boolean } {
    return reading(path, () => {
      const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const found = fstatSync(file, { bigint: true });
        const [mode, size] = [Number(found.mode), Number(found.size)];
        if (!found.isFile()) throw new ItemUnboundError('unreadable', `${path} must be a file.`);
        // Checked before reading, to avoid reading a huge file.
        this.options.budget.take(size);
        const executable = (mode & 0o111) !== 0;
        const known = this.options.hashes?.get(path, found);
        if (known !== undefined) return { bytes: UNREAD, sha256: known, executable };
        const bytes = readFileSync(file);
        if (bytes.length !== size) throw new ItemUnboundError('unreadable', `${path} changed while it was read.`);
        const sha256 = sha256Of(bytes);
        this.options.hashes?.put(path, found, sha256);
        return { bytes, sha256, executable };
      } finally {
        closeSync(file);
      }
    });
  }

  private async keep(path: string, file: Omit<BoundFile, 'in' | 'path'>, bytes?: Buffer): Promise<void> {
    const name = this.nameOf(path);
    if (this.found.has(name)) return;
    if (bytes === undefined) this.options.budget.take(0);
    const bound = { in: this.name, path: name, ...file };
    this.found.set(name, bound);
    await this.options.sink?.(bound, bytes);
  }

  private nameOf(path: string): string {
    return relative(this.root, path).split(sep).join('/');
  }
}

/** False for a link that leads to a missing path or back to itself. */
function hasTarget(link: string): boolean {
  try {
    statSync(link);
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return false;
    throw error;
  }
}

/** SHA-256 as 64 hexadecimal digits. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Runs `read`, and turns any exception into an `ItemUnboundError`. */
function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof ItemUnboundError) throw cause;
    throw new ItemUnboundError('unreadable', `${path} could not be read: ${describeError(cause)}`, { cause });
  }
}
