import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';

const SKIPPED = new Set(['node_modules', 'dist', 'coverage']);
const MAX_FILES = 2_000;
const MAX_FILE_BYTES = 256 * 1024;

/** A path leads out of the folder: by `..`, from the root of the disk, or through a symbolic link. */
export class OutsideFolderError extends Error {
  constructor(path: string) {
    super(`"${path}" lies outside of the folder.`);
    this.name = 'OutsideFolderError';
  }
}

/** A line of a file that holds a text. */
export interface Hit {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** A folder on disk, and nothing beside it: every path is followed to where it really leads before it is read. */
export class Folder {
  private constructor(readonly root: string) {}

  /** Undefined where there is no folder. */
  static async open(path: string): Promise<Folder | undefined> {
    const found = await stat(path).catch(() => undefined);
    return found?.isDirectory() ? new Folder(await realpath(path)) : undefined;
  }

  /** Whether a path leads to something inside. Also false where there is nothing, but its way would lead out. */
  async holds(path: string): Promise<boolean> {
    try {
      await this.locate(path);
      return true;
    } catch (error) {
      return !(error instanceof OutsideFolderError);
    }
  }

  /** Names in a folder, sorted; those of folders end in `/`. */
  async list(path: string): Promise<readonly string[]> {
    const entries = await readdir(await this.locate(path), { withFileTypes: true });
    const shown = entries.filter(({ name }) => !isSkipped(name));
    return shown.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  }

  async read(path: string): Promise<string> {
    const place = await this.locate(path);
    // A pipe or a device would be read for ever.
    if (!(await stat(place)).isFile()) throw new TypeError(`"${path}" is no file.`);
    return readFile(place, 'utf8');
  }

  /** Lines that hold a text as a word of its own, in every file that is not too large. */
  async search(text: string): Promise<readonly Hit[]> {
    const word = new RegExp(`(?<!\\w)${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?!\\w)`);
    const hits: Hit[] = [];
    for await (const file of this.files()) {
      // Others may be at work here: a file that went away meanwhile holds nothing.
      const lines = (await readFile(join(this.root, file), 'utf8').catch(() => '')).split('\n');
      for (const [index, line] of lines.entries()) {
        if (word.test(line)) hits.push({ file: file.split(sep).join('/'), line: index + 1, text: line.trim() });
      }
    }
    return hits;
  }

  private async *files(): AsyncIterable<string> {
    const open = [''];
    let seen = 0;
    for (let folder = open.shift(); folder !== undefined; folder = open.shift()) {
      const entries = await readdir(join(this.root, folder), { withFileTypes: true });
      for (const entry of entries.filter(({ name }) => !isSkipped(name))) {
        const path = join(folder, entry.name);
        // A symbolic link is neither: what it leads to is found where it lies, or lies outside.
        if (entry.isDirectory()) open.push(path);
        if (!entry.isFile()) continue;
        seen += 1;
        if (seen > MAX_FILES) return;
        const found = await stat(join(this.root, path)).catch(() => undefined);
        if (found !== undefined && found.size <= MAX_FILE_BYTES) yield path;
      }
    }
  }

  /** Where a path really leads. Looked at twice: as it is written, and once its links are followed. */
  private async locate(path: string): Promise<string> {
    this.assertInside(resolve(this.root, path), path);
    const place = await realpath(resolve(this.root, path));
    this.assertInside(place, path);
    return place;
  }

  private assertInside(place: string, path: string): void {
    const way = relative(this.root, place);
    if (way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way)) throw new OutsideFolderError(path);
  }
}

function isSkipped(name: string): boolean {
  return name.startsWith('.') || SKIPPED.has(name);
}
