import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../process/files/error-code.js';
import { writeAtomic } from '../../process/files/write-atomic.js';
import { StoreCorruptError, StoreOutdatedError } from '../store-error.js';
import { encodeLine, type ParsedLine, type ParsedLines, parseLines } from './line.js';
import { checkLength, emptySavedLength, keepLength, type LogPosition, readSavedLength } from './saved-length.js';
import { PLAIN_FILE } from './small-file.js';

/**
 * Bytes by which a log may exceed twice the size of its current state. A larger log is rewritten without outdated
 * lines.
 */
const SLACK_BYTES = 65_536;
/**
 * Length in bytes of the mark at the start of a log: a checksum, a tab and a random value. A rewritten file has another
 * mark.
 */
const MARK_BYTES = 8 + 1 + 34;

/** The format of a log: converts lines into a state, and a state into lines. */
export interface LogForm<State> {
  readonly kind: string;
  create(): State;
  /**
   * Applies a line to the state. `at` is the byte position of the line in the file. Returns false if an earlier line is
   * missing.
   */
  apply(state: State, fields: readonly string[], at: number): unknown;
  /** Returns the lines of a new log with this state. Without `dump`, a log is never rewritten and only grows. */
  dump?(state: State): Iterable<readonly string[]>;
  /** Returns true for a line that only earlier versions of Keelson wrote. Such a log causes a StoreOutdatedError. */
  isOutdated?(fields: readonly string[]): boolean;
  /**
   * Finds a later position in the log from which it can be read, so that older lines are skipped. Default: the first
   * line.
   */
  bookmark?(folder: string): Promise<Bookmark<State> | undefined>;
}

/** A position in a log at which reading may start, and the state to start from. */
export interface Bookmark<State> extends LogPosition {
  readonly state: State;
}

/** `read-only` access needs no lock and does not change the file. */
export type LogAccess = 'write' | 'read-only';

/**
 * A log: a file whose lines produce a state when they are applied in order. The caller must hold the lock of the
 * directory, except for read-only access.
 *
 * After the first read, reads only the lines that other processes have appended, or the whole file if it was rewritten.
 * A second file stores the length after the last durable write, so that a truncated log is detected.
 */
export class LogFile<State> {
  state: State;
  /**
   * The first bytes of the file. They contain a random value that identifies the file. Undefined before the first read.
   */
  mark: Buffer | undefined = undefined;
  readonly path: string;
  private bytes = 0;
  private skipped = 0;
  private usesBookmark = true;
  private rewriteAt = Number.POSITIVE_INFINITY;

  constructor(
    readonly folder: string,
    private readonly form: LogForm<State>,
    private readonly access: LogAccess = 'write',
  ) {
    this.path = join(folder, 'log');
    this.state = form.create();
  }

  /** Length of the lines that were read, in bytes. */
  get size(): number {
    return this.bytes - this.skipped;
  }

  /** Byte position in the file at which the next line will start. */
  get end(): number {
    return this.bytes === 0 ? Buffer.byteLength(newHeader(this.form.kind)) : this.bytes;
  }

  /** True if reading started at a bookmark instead of the first line. */
  get isPartial(): boolean {
    return this.skipped > 0;
  }

  /**
   * Applies the lines that are new in the file to the state. If the file cannot be read from its bookmark, reads the
   * whole file.
   *
   * A killed process may leave an incomplete last line. Removes it from the file, unless the access is read-only.
   */
  async read(): Promise<void> {
    try {
      await this.readLines();
    } catch (error) {
      if (!this.isPartial || !(error instanceof StoreCorruptError)) throw error;
      await this.readAll();
    }
  }

  /** Reads the whole file again, from its first line. */
  async readAll(): Promise<void> {
    this.restart();
    this.usesBookmark = false;
    await this.readLines();
  }

  /**
   * Clears the state, because the file does not exist. Throws a StoreCorruptError if the stored length shows that it
   * existed before.
   */
  private async startEmpty(): Promise<void> {
    this.restart();
    const saved = await readSavedLength(this.folder);
    if (saved !== 'missing') checkLength(this.path, saved, { mark: saved.mark, bytes: 0 });
  }

  private async readLines(): Promise<void> {
    const isLocked = this.access === 'write';
    const handle = await openLog(this.path, isLocked ? constants.O_RDWR : constants.O_RDONLY);
    if (handle === undefined) return this.startEmpty();
    try {
      let isNew = this.mark === undefined;
      if (isNew) await this.openBookmark();
      // Read before the log, because without a lock the log may grow in between.
      const saved = isNew || !isLocked ? await readSavedLength(this.folder) : undefined;
      const found = await handle.stat();
      const { size } = found;
      if (!found.isFile()) throw new StoreCorruptError(this.path, 'it must be a regular file');
      const mark = await readBytes(handle, 0, Math.min(MARK_BYTES, size));
      if (!this.mark?.equals(mark) || size < this.bytes) {
        this.restart();
        isNew = true;
      }
      const { lines, bytes } = this.parse(await readBytes(handle, this.bytes, size - this.bytes));
      const left = { mark, bytes: this.bytes + bytes };
      if (isNew) checkLength(this.path, saved ?? (await readSavedLength(this.folder)), left);
      this.replay(lines);
      this.bytes += bytes;
      // A log is created together with its first line, so an empty log is damaged.
      if (this.bytes === 0) throw new StoreCorruptError(this.path, 'it must begin with a complete line');
      if (this.bytes < size && isLocked) await handle.truncate(this.bytes);
      this.mark = mark;
      if (isNew && this.form.dump !== undefined) this.rewriteAt = rewriteSize(dumpText(this.form, this.state));
    } finally {
      await handle.close();
    }
  }

  private async openBookmark(): Promise<void> {
    const bookmark = this.usesBookmark ? await this.form.bookmark?.(this.folder) : undefined;
    if (bookmark === undefined) return;
    this.mark = bookmark.mark;
    this.state = bookmark.state;
    this.bytes = bookmark.bytes;
    this.skipped = bookmark.bytes;
  }

  /**
   * Appends lines. If `durable` is true, they are on disk when the promise resolves. If the append fails, truncates the
   * file to its previous length.
   */
  async append(text: string, durable: boolean): Promise<void> {
    if (this.bytes === 0 || this.bytes > this.rewriteAt) {
      return this.rewrite(this.form.dump === undefined ? text : dumpText(this.form, this.state));
    }
    const handle = await openLog(this.path, constants.O_WRONLY | constants.O_APPEND);
    if (handle === undefined) throw new StoreCorruptError(this.path, 'it was removed while it was in use');
    try {
      await handle.writeFile(text);
      if (durable) await handle.datasync();
    } catch (error) {
      await handle.truncate(this.bytes).catch(() => {});
      throw error;
    } finally {
      await handle.close();
    }
    this.bytes += Buffer.byteLength(text);
    if (durable && this.mark !== undefined) await keepLength(this.folder, { mark: this.mark, bytes: this.bytes });
  }

  /** Clears the state. The next append replaces the file. */
  restart(): void {
    this.state = this.form.create();
    this.mark = undefined;
    this.bytes = 0;
    this.skipped = 0;
  }

  private async rewrite(lines: string): Promise<void> {
    const text = newHeader(this.form.kind) + lines;
    // If the process is killed between the two writes, the stored length is empty or belongs to the previous file. Both
    // are ignored.
    if (this.bytes === 0) await emptySavedLength(this.folder);
    await writeAtomic(this.path, text);
    this.mark = Buffer.from(text.slice(0, MARK_BYTES));
    this.bytes = Buffer.byteLength(text);
    if (this.form.dump !== undefined) this.rewriteAt = rewriteSize(text);
    await keepLength(this.folder, { mark: this.mark, bytes: this.bytes });
  }

  /** Moves a damaged log to the path `backup`. The next append then starts a new file. */
  async setAside(backup: string): Promise<void> {
    await rename(this.path, backup).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
    await emptySavedLength(this.folder);
    this.restart();
  }

  private parse(bytes: Buffer): ParsedLines {
    const parsed = parseLines(bytes);
    if (parsed === undefined) throw new StoreCorruptError(this.path, 'a line does not match its checksum');
    if (this.bytes > 0) return parsed;
    const [header, ...lines] = parsed.lines;
    if (header !== undefined && header.fields[1] !== JSON.stringify(this.form.kind)) {
      throw new StoreCorruptError(this.path, `its first line must be the header of a ${this.form.kind} log`);
    }
    return { ...parsed, lines };
  }

  private replay(lines: readonly ParsedLine[]): void {
    for (const { fields, at } of lines) {
      if (this.form.isOutdated?.(fields)) throw new StoreOutdatedError(this.path);
      let isNext: boolean;
      try {
        isNext = this.form.apply(this.state, fields, this.bytes + at) !== false;
      } catch {
        throw new StoreCorruptError(this.path, 'a line has an unknown format');
      }
      if (!isNext) throw new StoreCorruptError(this.path, 'a line is missing');
    }
  }
}

/**
 * Opens a log. Returns undefined if the file does not exist. Throws a StoreCorruptError if it is not a regular file.
 */
async function openLog(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags | PLAIN_FILE, 0o600);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'ELOOP', 'EISDIR', 'ENXIO')) throw new StoreCorruptError(path, 'it must be a regular file');
    throw error;
  }
}

async function readBytes(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}

/** Returns the first line of a new log. Its random value distinguishes the file from all others. */
function newHeader(kind: string): string {
  return encodeLine([JSON.stringify(randomBytes(16).toString('hex')), JSON.stringify(kind)]);
}

function dumpText<State>(form: LogForm<State>, state: State): string {
  let text = '';
  for (const fields of form.dump?.(state) ?? []) text += encodeLine(fields);
  return text;
}

function rewriteSize(text: string): number {
  return 2 * Buffer.byteLength(text) + SLACK_BYTES;
}
