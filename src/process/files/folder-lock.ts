import { randomBytes } from 'node:crypto';
import { lstat, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode } from './error-code.js';
import { newOwner, ownerState } from './lock-owner.js';
import { DRAFT, syncFolder } from './write-atomic.js';

/** How the names of folders begin that are being removed, and of such that are being made. */
export const TRASH = 'trash-';
export const FRESH = 'new-';

const FREE = 'free';
const HELD = 'held.';
const NOBODY = '';
/** Not empty, for the sake of what tidies empty files away. */
const LOCK_TEXT = 'The name of this file is the lock of this folder.\n';
/** A holder shows that it lives this often. */
const HEARTBEAT_MS = 2_000;
const SILENT_MS = 10_000;
/** What one look at a holder counts for at most: between two, this process may have slept as well. */
const LOOK_MS = 100;

/** Why a lock cannot be had, or is gone. */
export type LockProblem =
  | { readonly kind: 'busy'; readonly waitedMs: number }
  /** Another process took it over while this one slept. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'not-a-folder' };

/** How a lock is asked for. */
export interface LockRequest {
  /** Makes the folder if it does not exist. */
  readonly create: boolean;
  readonly timeoutMs: number;
  /** Makes the error to throw. */
  readonly failure: (folder: string, problem: LockProblem) => Error;
  /** After how long without a sign of life a holder that cannot be looked for is taken for dead. Default: 10,000. */
  readonly silentMs?: number | undefined;
}

/**
 * Takes the lock of a folder: one file in it whose name says `free` or who holds it. It changes hands by renaming that
 * file, which succeeds for one process only. No name of a holder comes twice, so what is taken from a dead holder is never
 * a new holder's. Returns undefined if the folder does not exist and is not to be made.
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
 * Runs `act` while no other process that uses the lock of this file does. The lock is a folder beside the file, which is
 * gone afterwards.
 */
export async function withFileLock<T>(
  path: string,
  act: () => Promise<T>,
  failure: LockRequest['failure'],
): Promise<T> {
  const lock = await lockFolder(`${path}.lock`, { create: true, timeoutMs: FILE_LOCK_MS, failure });
  try {
    return await act();
  } finally {
    await lock?.remove();
  }
}

/** What went wrong with a lock, and what to do. */
export function lockProblemText(folder: string, problem: LockProblem): string {
  if (problem.kind === 'busy') return `${folder} is held by another process. Try again, or remove it if none runs.`;
  if (problem.kind === 'lost') return `The lock ${folder} was taken over by another process. Try again.`;
  return `${folder} must be a folder. Remove it.`;
}

/** Takes the lock of a folder that exists, if it is free or its holder is dead. Returns the name of the new holder. */
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

/** Puts a lock into a folder that has lost its own. Of several that do, each that sees another one steps back. */
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

  /** Rejects where somebody took the lock over while this process slept. */
  async check(): Promise<void> {
    await stat(join(this.folder, this.owner)).catch(() => {
      throw this.failure(this.folder, { kind: 'lost' });
    });
  }

  async release(): Promise<void> {
    clearInterval(this.heartbeat);
    if (!(await move(this.folder, this.owner, FREE))) throw this.failure(this.folder, { kind: 'lost' });
  }

  /** Removes the folder in one step, and with it the lock. */
  async remove(): Promise<void> {
    await this.check();
    const trash = join(dirname(this.folder), `${TRASH}${nonce()}`);
    await rename(this.folder, trash);
    clearInterval(this.heartbeat);
    this.isRemoved = true;
    await syncFolder(dirname(this.folder));
    // What is left of it, the next sweep removes.
    await rm(trash, { recursive: true, force: true }).catch(() => {});
  }

  private beat(): void {
    const now = new Date();
    void utimes(join(this.folder, this.owner), now, now).catch(() => {});
  }
}

/** Who holds a folder, watched by one that waits for it. */
class HolderWatch {
  private holder = '';
  private beatAt = 0;
  private lookedAt = 0;
  private silence = 0;

  constructor(
    private readonly folder: string,
    private readonly silentMs: number,
  ) {}

  /** The name of the holder, if it is dead; `NOBODY` where there is no lock at all. */
  async deadHolder(): Promise<string | undefined> {
    const names = await readdir(this.folder).catch((): string[] => []);
    const holder = names.find((name) => name.startsWith(HELD));
    if (holder === undefined) {
      // The lock may be gone, as after a copy that left it out. While others use it, the folder changes.
      return !names.includes(FREE) && (await this.isSilent(NOBODY)) ? NOBODY : undefined;
    }
    const state = await ownerState(holder);
    if (state === 'unknown') return (await this.isSilent(holder)) ? holder : undefined;
    return state === 'dead' ? holder : undefined;
  }

  /** Whether the same holder, or the folder itself, has shown no life for long, while this process was awake to see it. */
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

/** Makes the folder with the lock in it, already held. Undefined if somebody else made it first. */
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
    // Windows says EPERM where a folder is in the way.
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
