import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';

const SKIPPED = new Set(['node_modules', 'dist', 'coverage']);
const MAX_FILES = 2_000;
const MAX_FILE_BYTES = 256 * 1024;

/** A path leads out of the folder: by `..`, as an absolute path, or through a symbolic link. */
export class OutsideFolderError extends Error {
  constructor(path: string) {
    super(`"${path}" is outside of the folder.`);
    this.name = 'OutsideFolderError';
  }
}

/** A line that matches a search. */
export interface Hit {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** Restricts reads to a folder on disk. Resolves all symbolic links of a path before the path is read. */
export class Folder {
  private constructor(readonly root: string) {}

  /** Returns undefined if the path is not an existing folder. */
  static async open(path: string): Promise<Folder | undefined> {
    const found = await stat(path).catch(() => undefined);
    return found?.isDirectory() ? new Folder(await realpath(path)) : undefined;
  }

  /** Returns false if a path leads out of the folder, even if the path does not exist. */
  async holds(path: string): Promise<boolean> {
    try {
      await this.locate(path);
      return true;
    } catch (error) {
      return !(error instanceof OutsideFolderError);
    }
  }

  /** Returns the sorted names in a folder. The names of folders end in `/`. */
  async list(path: string): Promise<readonly string[]> {
    const entries = await readdir(await this.locate(path), { withFileTypes: true });
    const shown = entries.filter(({ name }) => !isSkipped(name));
    return shown.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).sort();
  }

  async read(path: string): Promise<string> {
    const place = await this.locate(path);
    // Reading a pipe or a device might never end.
    if (!(await stat(place)).isFile()) throw new TypeError(`"${path}" is not a regular file.`);
    return readFile(place, 'utf8');
  }

  /** Finds the lines that contain a string as a whole word. Skips large files. */
  async search(text: string): Promise<readonly Hit[]> {
    const word = new RegExp(`(?<!\\w)${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?!\\w)`);
    const hits: Hit[] = [];
    for await (const file of this.files()) {
      // Another process may have deleted the file in the meantime.
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
        // A symbolic link is skipped: its target is found at its own path, or is outside of the folder.
        if (entry.isDirectory()) open.push(path);
        if (!entry.isFile()) continue;
        seen += 1;
        if (seen > MAX_FILES) return;
        const found = await stat(join(this.root, path)).catch(() => undefined);
        if (found !== undefined && found.size <= MAX_FILE_BYTES) yield path;
      }
    }
  }

  /** Resolves a path. Checks the path before and after its symbolic links are followed. */
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
