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
} from 'node:fs';
import { join, relative, sep } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describeError } from '../../errors.js';
import { isInside } from '../../process/files/location.js';
import { ItemUnboundError } from '../error.js';
import type { BindingLimits } from '../item.js';

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
/** How long files are looked at before others have their turn. */
const TURN_MS = 10;

/** What is left of the limits, for all folders of one item together. */
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

  /** Something that is looked at, and may not be wanted. Now and then it waits until others have had their turn. */
  async see(): Promise<void> {
    this.seen += 1;
    if (this.seen > SEEN_PER_FILE * this.limits.files) this.refuse();
    if (performance.now() - this.turnBegan < TURN_MS) return;
    await setImmediate();
    this.turnBegan = performance.now();
  }

  private refuse(): never {
    const { files, bytes } = this.limits;
    throw new ItemUnboundError('too-large', `More than ${files} files or ${bytes} bytes belong to it.`);
  }
}

/** Something in a folder. */
interface Entry {
  readonly path: string;
  /** The path without links; of a link, the path of the link. */
  readonly real: string;
  readonly is: Pick<Stats, 'isDirectory' | 'isSymbolicLink' | 'isFile'>;
}

type Choice = (path: string) => boolean;

/**
 * The files that are bound in one folder. Whatever cannot be read, or leads out of it, is refused. Files are read at
 * once, one by one: that takes a tenth of the time that it takes to wait for each of them.
 */
export class BoundFolder {
  private readonly found = new Map<string, BoundFile>();
  /** The folders of which all is bound. */
  private readonly whole = new Set<string>();

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

  /** Binds a path of the folder and, where it is a folder itself, all that lies in it, or what of it `isWanted`. */
  async add(path: string, isWanted?: Choice): Promise<void> {
    const is = reading(path, () => lstatSync(path));
    await this.addEntry({ path, real: is.isSymbolicLink() ? path : this.resolve(path), is }, isWanted);
  }

  private async addEntry(entry: Entry, isWanted: Choice | undefined): Promise<void> {
    const { path, real, is } = entry;
    await this.options.budget.see();
    if (is.isDirectory()) return this.addFolder(entry, isWanted);
    if (isWanted?.(path) === false || this.get(path)) return;
    if (is.isSymbolicLink()) return this.addLink(path);
    if (!is.isFile()) throw new ItemUnboundError('unreadable', `${path} is no file, folder or link.`);
    const { bytes, ...content } = this.read(real);
    await this.keep(path, { type: 'file', ...content, ...(real !== path && { target: this.nameOf(real) }) }, bytes);
  }

  private async addFolder({ path, real }: Entry, isWanted: Choice | undefined): Promise<void> {
    if (this.whole.has(path)) return;
    if (isWanted === undefined) this.whole.add(path);
    if (isWanted?.(path) !== false) await this.keep(path, { type: 'directory' });
    const entries = reading(path, () => readdirSync(path, { withFileTypes: true }));
    const names = new Set(entries.map(({ name }) => name));
    // What is no UTF-8 has the name of another one, which would be looked at twice.
    if (names.size < entries.length) throw new ItemUnboundError('unreadable', `${path} has names that are no UTF-8.`);
    for (const is of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      await this.addEntry({ path: join(path, is.name), real: join(real, is.name), is }, isWanted);
    }
  }

  private async addLink(path: string): Promise<void> {
    const link = reading(path, () => readlinkSync(path));
    const target = this.resolve(path);
    const leads = { type: 'symlink', link, target: this.nameOf(target) } as const;
    if (reading(target, () => lstatSync(target)).isDirectory()) {
      await this.keep(path, leads);
      // What lies in the folder that a link leads to can be reached by the link.
      return this.add(target);
    }
    const { bytes, ...content } = this.read(target);
    await this.keep(path, { ...leads, ...content }, bytes);
  }

  /** Where a path leads. Throws an `ItemUnboundError` if that is outside of the folder, or nowhere. */
  resolve(path: string): string {
    const target = reading(path, () => realpathSync.native(path));
    if (isInside(target, this.root)) return target;
    throw new ItemUnboundError('outside', `${path} leads to ${target}, which lies outside of ${this.root}.`);
  }

  private read(path: string): { bytes: Buffer; sha256: string; executable: boolean } {
    return reading(path, () => {
      const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const found = fstatSync(file);
        const { mode, size } = found;
        if (!found.isFile()) throw new ItemUnboundError('unreadable', `${path} is no file.`);
        // Before it is read, so that no huge file is.
        this.options.budget.take(size);
        const bytes = readFileSync(file);
        if (bytes.length !== size) throw new ItemUnboundError('unreadable', `${path} changed while it was read.`);
        return { bytes, sha256: sha256Of(bytes), executable: (mode & 0o111) !== 0 };
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

/** SHA-256 as 64 hexadecimal digits. */
export function sha256Of(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Whatever `read` throws makes the item unbound. */
function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof ItemUnboundError) throw cause;
    throw new ItemUnboundError('unreadable', `${path} could not be read: ${describeError(cause)}`, { cause });
  }
}
