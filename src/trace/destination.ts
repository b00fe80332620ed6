import { constants, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Logger } from '../internal/logger.js';

/** Receives the lines of one trace. */
export interface Destination {
  /** Writes one line. `line` does not include the line break. May return a promise. */
  write(line: string): unknown;
  /** Resolves when all lines are written. */
  end(): Promise<void>;
}

/** Limits of the trace files in a folder. `maxFileBytes` is the maximum size of each file. */
export interface FileLimits {
  readonly maxFiles: number;
  readonly maxFileBytes: number;
}

/** Writes each trace to its own file. Only the user of the process can read the folder and its files. */
export class TraceFolder {
  private turn: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly folder: string,
    private readonly limits: FileLimits,
    private readonly logger: () => Logger,
  ) {}

  /**
   * Creates the file of a trace and returns its destination. If the file cannot be created, logs one warning and drops
   * all lines.
   */
  open(name: string): Destination {
    const lines: string[] = [];
    const limits = this.limits;
    let bytes = 0;
    let output: ((line: string) => void) | undefined;
    const opened = this.inTurn(() => this.create(name));
    const ready = opened.then((stream) => {
      output = (line) => void stream.write(line);
      for (const line of lines.splice(0)) output(line);
      return stream;
    });
    const failed = ready.catch((error) => {
      this.logger().warn(
        `The trace "${name}" cannot be written to the folder "${this.folder}". Check the permissions of the folder.`,
        error,
      );
      output = () => {};
      lines.length = 0;
    });
    return {
      write(line) {
        const isFull = bytes > limits.maxFileBytes;
        bytes += Buffer.byteLength(line) + 1;
        if (isFull) return;
        const text = bytes > limits.maxFileBytes ? `${CUT}\n` : `${line}\n`;
        if (output === undefined) lines.push(text);
        else output(text);
      },
      async end() {
        const stream = await failed;
        if (stream === undefined) return;
        stream.end();
        await finished(stream).catch(() => {});
      },
    };
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.turn.then(work, work);
    this.turn = done.catch(() => {});
    return done;
  }

  private async create(name: string) {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await this.makeRoom();
    const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants;
    const file = await open(join(this.folder, name), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
    const stream = createWriteStream('', { fd: file });
    stream.on('error', (error) =>
      this.logger().warn(`The trace "${name}" is incomplete, because writing its file failed.`, error),
    );
    return stream;
  }

  /**
   * Deletes the oldest traces to make room for one more. The names of the files start with their time, so they sort by
   * age.
   */
  private async makeRoom(): Promise<void> {
    const traces = (await readdir(this.folder)).filter((name) => name.endsWith(TRACE_ENDING)).sort();
    const surplus = traces.slice(0, Math.max(0, traces.length + 1 - this.limits.maxFiles));
    await Promise.all(surplus.map((name) => rm(join(this.folder, name), { force: true })));
  }
}

/** The file extension of traces. */
export const TRACE_ENDING = '.trace.jsonl';

/** The last line of a file that has reached its size limit. */
const CUT = '{"type":"cut"}';
