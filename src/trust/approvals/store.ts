import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describeError } from '../../errors.js';
import { consoleLogger, type Logger } from '../../internal/logger.js';
import { type LockProblem, lockProblemText, withFileLock } from '../../process/files/folder-lock.js';
import { isInWorkspace } from '../../process/files/workspace.js';
import { writeAtomic } from '../../process/files/write-atomic.js';
import { TrustStoreError } from '../error.js';
import { type Approval, EMPTY_RECORD, formatRecord, identityText, parseRecord, type TrustRecord } from './approval.js';

/** The name of the file in the folder of the user's state. */
const TRUST_FILE = 'trusted-hooks.json';
/** Larger than any: an approval takes less than a thousand. */
const MOST_BYTES = 64 * 1024 * 1024;
/** After this time a change gives the file another time of change, whatever the clock of its system counts in. */
const SETTLED_NS = 2_000_000_000n;

/** Where approvals are kept. */
export interface TrustStoreOptions {
  readonly stateDir: string;
  /** The store is refused where it lies in here, with links followed: what is judged may not hold the judgement. */
  readonly workspaceDir: string;
  readonly logger?: Logger | undefined;
}

/**
 * The user's approvals, in one file that only the user can read. Each change is atomic, also beside other processes. A
 * file that is damaged, or that others can write, counts as empty; it is kept as a copy before it is written over.
 */
export class TrustStore {
  readonly path: string;
  private readonly told = new Set<string>();
  /** What the file held when it was last read or written, and what it looked like: it is read again when that changes. */
  private known: { mark: string | undefined; readonly text: string; readonly record: TrustRecord } | undefined =
    undefined;

  constructor(private readonly options: TrustStoreOptions) {
    this.path = join(options.stateDir, TRUST_FILE);
  }

  /** All approvals, of all workspaces. */
  async list(): Promise<readonly Approval[]> {
    return (await this.read()).approvals;
  }

  /** Stores an approval in the place of any other of the same item. Returns those that it replaces. */
  async approve(approval: Approval): Promise<readonly Approval[]> {
    return this.replace((other) => identityText(other) === identityText(approval), [structuredClone(approval)]);
  }

  /** Takes approvals back, by digest or by a choice of one's own. Returns those that are gone. */
  async revoke(which: string | ((approval: Approval) => boolean)): Promise<readonly Approval[]> {
    return this.replace(typeof which === 'string' ? ({ digest }) => digest === which : which, []);
  }

  /** Notes what the user's own items look like. Returns what the keys that look different held before. */
  async noteSeen(current: ReadonlyMap<string, string>): Promise<ReadonlyMap<string, string | undefined>> {
    const { seen } = await this.read();
    const changed = [...current].filter(([key, value]) => seen.get(key) !== value);
    if (changed.length > 0) await this.update((record) => ({ ...record, seen: new Map([...record.seen, ...current]) }));
    return new Map(changed.map(([key]) => [key, seen.get(key)]));
  }

  private async replace(isGone: (approval: Approval) => boolean, added: readonly Approval[]) {
    let gone: readonly Approval[] = [];
    await this.update((record) => {
      gone = record.approvals.filter(isGone);
      return { ...record, approvals: [...record.approvals.filter((approval) => !isGone(approval)), ...added] };
    });
    return gone;
  }

  private async update(change: (record: TrustRecord) => TrustRecord): Promise<void> {
    this.check();
    await this.writing(() => mkdir(dirname(this.path), { recursive: true, mode: 0o700 }));
    const act = async () => {
      const backup = `${this.path}.${Date.now()}.backup`;
      const record = change(await this.read(() => this.writing(() => copyFile(this.path, backup))));
      const text = formatRecord(record);
      await this.writing(() => writeAtomic(this.path, text));
      this.known = { mark: undefined, text, record };
    };
    await this.writing(() => withFileLock(this.path, act, lockFailure));
  }

  private async writing(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (cause) {
      if (cause instanceof TrustStoreError) throw cause;
      throw new TrustStoreError(`${this.path} could not be written: ${describeError(cause)}`, { cause });
    }
  }

  private async read(keep: () => Promise<void> = async () => {}): Promise<TrustRecord> {
    this.check();
    const mark = this.mark();
    if (mark !== undefined && mark === this.known?.mark) return this.known.record;
    const text = this.readText();
    if (text === undefined) return EMPTY_RECORD;
    if (text === this.known?.text) {
      this.known.mark = mark;
      return this.known.record;
    }
    const parsed = text === '' ? undefined : parseRecord(text);
    if (parsed === undefined) {
      this.tell(`${this.path} is damaged, of another version, or can be written by others: no approval in it counts.`);
      await keep();
      return EMPTY_RECORD;
    }
    if (parsed.dropped > 0)
      this.tell(`${this.path} has ${parsed.dropped} entries without a digest: they do not count.`);
    this.known = { mark, text, record: parsed.record };
    return parsed.record;
  }

  /** What a file looks like without its being read; undefined where it changed just now. */
  private mark(): string | undefined {
    try {
      const { dev, ino, size, mode, mtimeNs, ctimeNs } = statSync(this.path, { bigint: true });
      const isSettled = BigInt(Date.now()) * 1_000_000n - ctimeNs >= SETTLED_NS;
      return isSettled ? [dev, ino, size, mode, mtimeNs, ctimeNs].join(' ') : undefined;
    } catch {
      return undefined;
    }
  }

  /** Nothing where others could have written it. A pipe or a device is refused, and never keeps us waiting. */
  private readText(): string | undefined {
    let file: number | undefined;
    try {
      file = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
      const found = fstatSync(file);
      if (!found.isFile() || found.size > MOST_BYTES) {
        throw new TrustStoreError(`${this.path} is no file of at most ${MOST_BYTES} bytes: remove it.`);
      }
      return isOthers(found) ? '' : readFileSync(file, 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      if (cause instanceof TrustStoreError) throw cause;
      throw new TrustStoreError(`${this.path} could not be read: ${describeError(cause)}`, { cause });
    } finally {
      if (file !== undefined) closeSync(file);
    }
  }

  private check(): void {
    const { workspaceDir } = this.options;
    if (isInWorkspace(this.path, workspaceDir)) {
      throw new TrustStoreError(
        `${this.path} lies in the workspace ${workspaceDir}: choose a \`stateDir\` outside of it.`,
      );
    }
  }

  private tell(message: string): void {
    if (this.told.has(message)) return;
    this.told.add(message);
    (this.options.logger ?? consoleLogger).warn(message);
  }
}

/** Whether somebody else can write to a file. Whose it is can, whatever its mode. */
function isOthers({ mode, uid }: Stats): boolean {
  if (process.platform === 'win32') return false;
  return (mode & 0o022) !== 0 || (uid !== 0 && uid !== process.geteuid?.());
}

function lockFailure(folder: string, problem: LockProblem): Error {
  return new TrustStoreError(lockProblemText(folder, problem));
}
