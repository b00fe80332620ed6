import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open, readdir, readlink, realpath } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { describeError } from '../errors.js';
import { isInside } from '../process/location.js';
import { ItemUnboundError } from './trust-error.js';
import type { BindingLimits } from './trust-item.js';

/** One file that is bound to an item. */
export type BoundFile = {
  /** The folder of the extension, the workspace, or for an item of the user's the folder of its definition. */
  readonly in: 'extension' | 'workspace' | 'definition';
  /** Relative to the folder that `in` names, with `/`. */
  readonly path: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** Whether anybody may execute it. */
  readonly executable?: boolean;
  /** Of the bytes, 64 hexadecimal digits; of a link to a file, the bytes that it leads to. */
  readonly sha256?: string;
  /** The text of a link. */
  readonly link?: string;
  /** Where the path leads, relative to the same folder, if not to itself. */
  readonly target?: string;
};

/** Gets the bytes of each bound file as they were hashed. */
export type FileSink = (file: BoundFile, bytes: Buffer | undefined) => Promise<void>;

const SEEN_PER_FILE = 20;

/** What is left of the limits, for all folders of one item together. */
export class BindingBudget {
  private files = 0;
  private bytes = 0;
  private seen = 0;

  constructor(private readonly limits: BindingLimits) {}

  take(bytes: number): void {
    this.files += 1;
    this.bytes += bytes;
    const { limits } = this;
    if (this.files > limits.files || this.bytes > limits.bytes) this.refuse();
  }

  /** Something that was looked at, and may not be wanted. */
  see(): void {
    this.seen += 1;
    if (this.seen > SEEN_PER_FILE * this.limits.files) this.refuse();
  }

  private refuse(): never {
    const { files, bytes } = this.limits;
    throw new ItemUnboundError('too-large', `More than ${files} files or ${bytes} bytes belong to it.`);
  }
}

/** The files that are bound in one folder. Whatever cannot be read, or leads out of it, is refused. */
export class BoundFolder {
  private readonly found = new Map<string, BoundFile>();

  /** `root` has no links in it. */
  constructor(
    private readonly name: BoundFile['in'],
    readonly root: string,
    private readonly options: { readonly budget: BindingBudget; readonly sink?: FileSink | undefined },
  ) {}

  list(): readonly BoundFile[] {
    return [...this.found.values()];
  }

  get(path: string): BoundFile | undefined {
    return this.found.get(this.nameOf(path));
  }

  /** Binds a path of the folder and, where it is a folder itself, all that lies in it and `isWanted`. */
  async add(path: string, isWanted: (path: string) => boolean = () => true): Promise<void> {
    this.options.budget.see();
    if (this.get(path)) return;
    const entry = await reading(path, () => lstat(path));
    if (entry.isDirectory()) {
      if (isWanted(path)) await this.keep(path, { type: 'directory' });
      for (const name of (await reading(path, () => readdir(path))).sort()) await this.add(join(path, name), isWanted);
      return;
    }
    if (!isWanted(path)) return;
    if (entry.isSymbolicLink()) return this.addLink(path);
    if (!entry.isFile()) throw new ItemUnboundError('unreadable', `${path} is no file, folder or link.`);
    await this.addFile(path);
  }

  private async addLink(path: string): Promise<void> {
    const link = await reading(path, () => readlink(path));
    const target = await this.resolve(path);
    const { bytes, ...content } = await this.read(target).catch((error) => isFolder(target, error));
    await this.keep(path, { type: 'symlink', link, target: this.nameOf(target), ...content }, bytes);
    // What lies in the folder that a link leads to can be reached by the link.
    if (bytes === undefined) await this.add(target);
  }

  private async addFile(path: string): Promise<void> {
    const target = await this.resolve(path);
    const { bytes, ...content } = await this.read(target);
    await this.keep(path, { type: 'file', ...content, ...(target !== path && { target: this.nameOf(target) }) }, bytes);
  }

  private async resolve(path: string): Promise<string> {
    const target = await reading(path, () => realpath(path));
    if (isInside(target, this.root)) return target;
    throw new ItemUnboundError('outside', `${path} leads to ${target}, which lies outside of ${this.root}.`);
  }

  private async read(path: string): Promise<{ bytes: Buffer; sha256: string; executable: boolean }> {
    return reading(path, async () => {
      const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const found = await file.stat();
        const { mode, size } = found;
        if (!found.isFile()) throw new ItemUnboundError('unreadable', `${path} is no file.`);
        // Before it is read, so that no huge file is.
        this.options.budget.take(size);
        const bytes = await file.readFile();
        if (bytes.length !== size) throw new ItemUnboundError('unreadable', `${path} changed while it was read.`);
        return { bytes, sha256: sha256Of(bytes), executable: (mode & 0o111) !== 0 };
      } finally {
        await file.close();
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

/** SHA-256 as 64 hexadecimal digits. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** A link to a folder has no bytes of its own. */
async function isFolder(path: string, error: unknown): Promise<{ bytes?: Buffer }> {
  if ((await reading(path, () => lstat(path))).isDirectory()) return {};
  throw error;
}

/** Whatever `read` throws makes the item unbound. */
async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if (cause instanceof ItemUnboundError) throw cause;
    throw new ItemUnboundError('unreadable', `${path} could not be read: ${describeError(cause)}`, { cause });
  }
}
