import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from './error-code.js';
import { newOwner, ownerState } from './lock-owner.js';
import { DRAFT, syncFolder, writeAtomic } from './write-atomic.js';

/** Prefix of a directory that is being removed. */
export const TRASH = 'trash-';
/** Prefix of a directory that is being created. */
export const FRESH = 'new-';

const FREE = 'free';
const HELD = 'held.';
const NOBODY = '';
/** The content of a lock file. It is not empty, because clean-up tools delete empty files. */
const LOCK_TEXT = 'The name of this file is the lock of this folder.\n';
/** Milliseconds between two heartbeats of a holder, which set the modification time of its lock file. */
const HEARTBEAT_MS = 2_000;
const SILENT_MS = 10_000;
/**
 * The most milliseconds of silence that one check of a holder can add. If this process slept between two checks, the
 * time of its sleep must not make the holder look dead.
 */
const LOOK_MS = 100;

/** The reason why a lock cannot be taken, or was lost. */
export type LockProblem =
  | { readonly kind: 'busy'; readonly waitedMs: number }
  /** Another process took over the lock while this process slept. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'not-a-folder' };

/** Options for taking a lock. */
export interface LockRequest {
  /** Creates the directory if it is missing. */
  readonly create: boolean;
  readonly timeoutMs: number;
  /** Creates the error to throw. */
  readonly failure: (folder: string, problem: LockProblem) => Error;
  /** Milliseconds after which a silent holder counts as dead, if its process cannot be checked. Default: 10,000. */
  readonly silentMs?: number | undefined;
}

/**
 * Takes the lock of a directory. Returns undefined if the directory is missing and `create` is false.
 *
 * The lock is one file in the directory. Its name is `free` or identifies the holder. A process takes the lock by
 * renaming that file, which succeeds for one process only. The name of a holder is never used twice, so taking over
 * from a dead holder cannot hit a new one. See docs/decisions/0009-locks-are-renamed.md.
 */
export async function lockFolder(folder: string, request: LockRequest): Promise<FolderLock | undefined> {
  const { create, timeoutMs, failure, silentMs = SILENT_MS } = request;
  const watch = new HolderWatch(folder, silentMs);
  const start = performance.now();
  for (;;) {
    const exists = await isFolder(folder, failure);
    if (!exists && !create) return undefined;
    const owner = await (exists ? takeLock(folder, watch) : makeLocked(folder));
    if (owner !== undefined) return new FolderLock(folder, owner, failure);
    const waitedMs = Math.round(performance.now() - start);
    if (waitedMs >= timeoutMs) throw failure(folder, { kind: 'busy', waitedMs });
    await new Promise((resolve) => setTimeout(resolve, 1 + Math.random() * 7));
  }
}

const FILE_LOCK_MS = 15_000;

/**
 * Runs `act` while holding a lock on the file. The lock is a directory beside the file, which is removed afterwards.
 * `act` must write the file with `lock.replace`.
 */
export async function withFileLock<T>(
  path: string,
  act: (lock: Pick<FolderLock, 'replace'>) => Promise<T>,
  failure: LockRequest['failure'],
): Promise<T> {
  const folder = `${path}.lock`;
  const lock = await lockFolder(folder, { create: true, timeoutMs: FILE_LOCK_MS, failure });
  if (lock === undefined) throw failure(folder, { kind: 'lost' });
  try {
    return await act(lock);
  } finally {
    await lock.remove();
  }
}

/** Describes the problem with a lock, and what to do. */
export function lockProblemText(folder: string, problem: LockProblem): string {
  if (problem.kind === 'busy')
    return `${folder} is locked by another process. Try again, or remove it if no such process runs.`;
  if (problem.kind === 'lost') return `The lock ${folder} was taken over by another process. Try again.`;
  return `${folder} must be a directory. Remove the file.`;
}

/** Takes the lock of an existing directory if it is free or its holder is dead. Returns the name of the new holder. */
async function takeLock(folder: string, watch: HolderWatch): Promise<string | undefined> {
  const owner = newOwner();
  if (await move(folder, FREE, owner)) return owner;
  const dead = await watch.deadHolder();
  if (dead === undefined) return undefined;
  if (!(await (dead === NOBODY ? putLock(folder, owner) : move(folder, dead, owner)))) return undefined;
  const drafts = (await readdir(folder)).filter((name) => name.endsWith(DRAFT));
  for (const draft of drafts) await rm(join(folder, draft), { force: true });
  return owner;
}

/**
 * Creates the lock file in a directory that lost it. If several processes do so at once, each process that sees another
 * lock file gives up.
 */
async function putLock(folder: string, owner: string): Promise<boolean> {
  const path = join(folder, owner);
  try {
    await writeFile(path, LOCK_TEXT, { flag: 'wx', mode: 0o600 });
    const locks = (await readdir(folder)).filter((name) => name === FREE || name.startsWith(HELD));
    if (locks.length === 1) return true;
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
  await rm(path, { force: true });
  return false;
}

/** A lock that this process holds. */
export class FolderLock {
  isRemoved = false;
  private readonly heartbeat: NodeJS.Timeout;

  constructor(
    private readonly folder: string,
    private readonly owner: string,
    private readonly failure: LockRequest['failure'],
  ) {
    this.heartbeat = setInterval(() => this.beat(), HEARTBEAT_MS).unref();
  }

  /** Rejects if another process took over the lock while this process slept. */
  async check(): Promise<void> {
    await stat(join(this.folder, this.owner)).catch(() => {
      throw this.failure(this.folder, { kind: 'lost' });
    });
  }

  /**
   * Replaces the file at `path` in one step. Rejects and changes nothing if another process took over the lock.
   *
   * The new text is first written to a draft in the lock's directory. A process that takes over the lock removes all
   * drafts first. So a process that slept between `check` and the rename has nothing left to rename.
   */
  async replace(path: string, text: string): Promise<void> {
    const draft = join(this.folder, `${FRESH}${nonce()}${DRAFT}`);
    try {
      await writeAtomic(path, text, { draft, check: () => this.check() });
    } catch (error) {
      await this.check();
      throw error;
    }
  }

  async release(): Promise<void> {
    clearInterval(this.heartbeat);
    if (!(await move(this.folder, this.owner, FREE))) throw this.failure(this.folder, { kind: 'lost' });
  }

  /** Removes the directory and its lock in one step. */
  async remove(): Promise<void> {
    await this.check();
    const trash = join(dirname(this.folder), `${TRASH}${nonce()}`);
    await rename(this.folder, trash);
    clearInterval(this.heartbeat);
    this.isRemoved = true;
    await syncFolder(dirname(this.folder));
    // A later sweep removes any files that stay behind.
    await rm(trash, { recursive: true, force: true }).catch(() => {});
  }

  private beat(): void {
    const now = new Date();
    void utimes(join(this.folder, this.owner), now, now).catch(() => {});
  }
}

/** Tells a process that waits for a lock if the holder is dead. */
class HolderWatch {
  private holder = '';
  private beatAt = 0;
  private lookedAt = 0;
  private silence = 0;

  constructor(
    private readonly folder: string,
    private readonly silentMs: number,
  ) {}

  /**
   * Returns the name of the lock file if its holder is dead, and undefined if the holder may be alive. Returns `NOBODY`
   * if the lock file has been missing for `silentMs`.
   */
  async deadHolder(): Promise<string | undefined> {
    const names = await readdir(this.folder).catch((): string[] => []);
    const holder = names.find((name) => name.startsWith(HELD));
    if (holder === undefined) {
      // A copy of the directory may lack the lock file. In a directory that is in use, files change.
      return !names.includes(FREE) && (await this.isSilent(NOBODY)) ? NOBODY : undefined;
    }
    const state = await ownerState(holder);
    if (state === 'unknown') return (await this.isSilent(holder)) ? holder : undefined;
    return state === 'dead' ? holder : undefined;
  }

  /** True if the holder has shown no heartbeat for `silentMs`, counting only time in which this process was awake. */
  private async isSilent(holder: string): Promise<boolean> {
    const beatAt = await stat(join(this.folder, holder)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
    const now = performance.now();
    const isSame = holder === this.holder && beatAt === this.beatAt;
    this.silence = isSame ? this.silence + Math.min(now - this.lookedAt, LOOK_MS) : 0;
    this.holder = holder;
    this.beatAt = beatAt;
    this.lookedAt = now;
    return this.silence >= this.silentMs;
  }
}

async function isFolder(path: string, failure: LockRequest['failure']): Promise<boolean> {
  const found = await lstat(path).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  });
  if (found === undefined || found.isDirectory()) return found !== undefined;
  throw failure(path, { kind: 'not-a-folder' });
}

/** Creates the directory with a lock file of this process. Returns undefined if another process was faster. */
async function makeLocked(folder: string): Promise<string | undefined> {
  const owner = newOwner();
  const parent = dirname(folder);
  const fresh = join(parent, `${FRESH}${nonce()}`);
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await mkdir(fresh, { mode: 0o700 });
  try {
    await writeFile(join(fresh, owner), LOCK_TEXT, { flag: 'wx', mode: 0o600 });
    await rename(fresh, folder);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    // Windows reports EPERM if the directory already exists.
    if (hasCode(error, 'EEXIST', 'ENOTEMPTY', 'EPERM')) return undefined;
    throw error;
  }
  await syncFolder(parent);
  return owner;
}

async function move(folder: string, from: string, to: string): Promise<boolean> {
  try {
    await rename(join(folder, from), join(folder, to));
    return true;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
}

function nonce(): string {
  return randomBytes(16).toString('hex');
}
