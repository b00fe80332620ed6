import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '../../process/files/error-code.js';
import { writeAtomic } from '../../process/files/write-atomic.js';
import { StoreCorruptError } from '../store-error.js';
import { encodeLine, type ParsedLines, parseLines } from './line.js';
import { emptySavedLength, readSavedLength, type SavedLength, writeSavedLength } from './saved-length.js';

const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
/** Opens a pipe without waiting for its other end. */
const NO_WAIT = constants.O_NONBLOCK ?? 0;
/** A log is rewritten when it exceeds twice the size of its current state by this number of bytes. */
const SLACK_BYTES = 65_536;
/** Length of the start of a log: a checksum, a tab, and a random value that is new in each rewritten file. */
const MARK_BYTES = 8 + 1 + 34;

/** Converts lines of a log into a state, and a state into lines. */
export interface LogForm<State> {
  readonly kind: string;
  create(): State;
  apply(state: State, fields: readonly string[]): void;
  /** Returns lines that produce this state when they are applied to a new state. */
  dump(state: State): Iterable<readonly string[]>;
}

/** Lines to append to a log. */
export interface LogAddition {
  readonly text: string;
  /** True if the lines must be on disk before `append` resolves. */
  readonly durable: boolean;
}

/**
 * A file whose lines produce a state when they are applied in order. The caller must hold the lock of the directory, except
 * for `readOnly`. Reads only the lines that other processes have appended since the last reading, or the whole file if it
 * was rewritten. A second file keeps the length after the last durable write, so that a cut is noticed.
 */
export class LogFile<State> {
  state: State;
  readonly path: string;
  private readonly lengthPath: string;
  private mark: Buffer | undefined = undefined;
  private bytes = 0;
  private rewriteAt = 0;

  constructor(
    folder: string,
    private readonly form: LogForm<State>,
  ) {
    this.path = join(folder, 'log');
    this.lengthPath = join(folder, 'length');
    this.state = form.create();
  }

  /** Length of the file in bytes. */
  get size(): number {
    return this.bytes;
  }

  /** Updates the state from the file, and removes an incomplete last line from the file. */
  read(): Promise<void> {
    return this.readFrom(constants.O_RDWR);
  }

  /** Updates the state from the file without a lock and without a change of the file. */
  readOnly(): Promise<void> {
    return this.readFrom(constants.O_RDONLY);
  }

  /** Throws if a log was stored. */
  private async startEmpty(): Promise<void> {
    this.restart();
    const saved = await readSavedLength(this.lengthPath);
    if (saved !== 'missing') this.checkLength(saved, saved.mark, 0);
  }

  private async readFrom(access: number): Promise<void> {
    const handle = await openLog(this.path, access);
    if (handle === undefined) return this.startEmpty();
    try {
      // Before the log: without a lock, the log may grow in between.
      const saved =
        this.bytes === 0 || access === constants.O_RDONLY ? await readSavedLength(this.lengthPath) : undefined;
      const found = await handle.stat();
      const { size } = found;
      if (!found.isFile()) throw new StoreCorruptError(this.path, 'it must be a regular file');
      const mark = await readBytes(handle, 0, Math.min(MARK_BYTES, size));
      if (this.mark === undefined || !mark.equals(this.mark) || size < this.bytes) this.restart();
      const isNew = this.bytes === 0;
      const { lines, bytes } = this.parse(await readBytes(handle, this.bytes, size - this.bytes));
      if (isNew) this.checkLength(saved ?? (await readSavedLength(this.lengthPath)), mark, bytes);
      this.replay(isNew ? lines.slice(1) : lines);
      this.bytes += bytes;
      // A log is written in one step with its first line, so an empty log is damaged.
      if (isNew && bytes === 0) throw new StoreCorruptError(this.path, 'it must begin with a complete line');
      if (this.bytes < size && access === constants.O_RDWR) await handle.truncate(this.bytes);
      this.mark = this.bytes === 0 ? undefined : mark;
      if (isNew) this.rewriteAt = rewriteSize(dumpText(this.form, this.state));
    } finally {
      await handle.close();
    }
  }

  /** Appends lines. If that fails, the file is truncated to its previous length. */
  async append({ text, durable }: LogAddition): Promise<void> {
    if (this.bytes === 0 || this.bytes > this.rewriteAt) return this.rewrite();
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
    if (durable) await this.keepLength();
  }

  /** Clears the state. The next write replaces the file. */
  restart(): void {
    this.state = this.form.create();
    this.mark = undefined;
    this.bytes = 0;
  }

  /** Replaces the file atomically by a new one with only the current state. */
  async rewrite(): Promise<void> {
    const header = encodeLine([JSON.stringify(randomBytes(16).toString('hex')), JSON.stringify(this.form.kind)]);
    const text = header + dumpText(this.form, this.state);
    // If the process is killed between the two writes, the stored length is empty or of the previous file. Both are ignored.
    if (this.bytes === 0) await emptySavedLength(this.lengthPath);
    await writeAtomic(this.path, text);
    this.mark = Buffer.from(text.slice(0, MARK_BYTES));
    this.bytes = Buffer.byteLength(text);
    this.rewriteAt = rewriteSize(text);
    await this.keepLength();
  }

  /** Moves a damaged file to `backup`, so that a new one can begin. */
  async setAside(backup: string): Promise<void> {
    await rename(this.path, backup).catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error;
    });
    await emptySavedLength(this.lengthPath);
    this.restart();
  }

  /** A failure is ignored: the older length is less strict. */
  private async keepLength(): Promise<void> {
    if (this.mark === undefined) return;
    await writeSavedLength(this.lengthPath, { mark: this.mark, bytes: this.bytes }).catch(() => {});
  }

  /**
   * A process that was killed leaves an incomplete line after the stored length. A shorter file was cut. A length of another
   * file, or an empty one, says nothing.
   */
  private checkLength(saved: SavedLength | 'missing', mark: Buffer, bytes: number): void {
    const advice = `To use what is left, write an empty file to ${this.lengthPath}`;
    if (saved === 'missing') {
      throw new StoreCorruptError(this.path, `its length was stored beside it and is missing. ${advice}`);
    }
    if (bytes >= saved.bytes || !saved.mark.equals(mark)) return;
    const problem = `its end is missing: ${saved.bytes} bytes were saved, and ${bytes} are left`;
    throw new StoreCorruptError(this.path, `${problem}. ${advice}`);
  }

  private parse(bytes: Buffer): ParsedLines {
    const parsed = parseLines(bytes);
    const isFirst = this.bytes === 0;
    if (parsed === undefined) throw new StoreCorruptError(this.path, 'a line does not match its checksum');
    const [header] = parsed.lines;
    if (isFirst && header !== undefined && header[1] !== JSON.stringify(this.form.kind)) {
      throw new StoreCorruptError(this.path, `its first line must be the header of a ${this.form.kind} log`);
    }
    return parsed;
  }

  private replay(lines: readonly (readonly string[])[]): void {
    try {
      for (const fields of lines) this.form.apply(this.state, fields);
    } catch {
      throw new StoreCorruptError(this.path, 'a line has an unknown format');
    }
  }
}

/** Returns undefined if the file does not exist. */
async function openLog(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags | NO_FOLLOW | NO_WAIT, 0o600);
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

function dumpText<State>(form: LogForm<State>, state: State): string {
  let text = '';
  for (const fields of form.dump(state)) text += encodeLine(fields);
  return text;
}

function rewriteSize(text: string): number {
  return 2 * Buffer.byteLength(text) + SLACK_BYTES;
}
