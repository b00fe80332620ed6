import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { realLocation } from '../../process/files/location.js';
import type { TrustPlace } from '../item.js';
import { BindingBudget, type BoundFile, BoundFolder } from './bound-file.js';
import { canonicalJson } from './canonical-json.js';
import { type Fingerprint, fingerprintItem } from './fingerprint.js';

/**
 * Returns a directory with a copy of the approved extension package, which runs in place of the original. The copy is
 * written from the same bytes that are hashed, and is compared on each call. Returns undefined if the package has
 * changed.
 */
export async function openSnapshot(fingerprint: Fingerprint, place: TrustPlace): Promise<string | undefined> {
  const folder = copyPath(fingerprint.digest, place.stateDir);
  if (await isIntact(folder, fingerprint, place)) return inUse(folder);
  const draft = join(dirname(folder), `new-${randomUUID()}`);
  try {
    await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
    const { digest } = await fingerprintItem(fingerprint.item, place, {
      sink: (file, bytes) => copy(draft, file, bytes),
    });
    if (digest !== fingerprint.digest) return undefined;
    await setFolderModes(draft, 0o500);
    // Another call may have created the copy already, and it may be in use: only a damaged copy is replaced.
    if (!(await isMoved(draft, folder)) && !(await isIntact(folder, fingerprint, place))) {
      const old = `${draft}-old`;
      await isMoved(folder, old);
      await isMoved(draft, folder);
      // A program may run in an intact copy, which another call has just created. The sweep removes it later.
      if (!(await isIntact(old, fingerprint, place))) await removeFolder(old);
    }
    return (await isIntact(folder, fingerprint, place)) ? await inUse(folder) : undefined;
  } finally {
    await removeFolder(draft);
  }
}

function isMoved(from: string, to: string): Promise<boolean> {
  return rename(from, to).then(
    () => true,
    () => false,
  );
}

/** Removes the copy that belongs to an approval. */
export async function removeSnapshot(digest: string, stateDir: string): Promise<void> {
  await removeFolder(copyPath(digest, stateDir));
}

const UNUSED_MS = 30 * 86_400_000;

/**
 * Removes copies that were not used for 30 days. A missing copy is created again when needed. The delay protects servers
 * that still run from a copy.
 */
export async function sweepSnapshots(stateDir: string): Promise<void> {
  const folder = copiesIn(stateDir);
  for (const name of await readdir(folder).catch(() => [])) {
    if (!/^(new-|[0-9a-f]{64}$)/.test(name)) continue;
    const path = join(folder, name);
    const usedAt = await lstat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Date.now(),
    );
    if (Date.now() - usedAt > UNUSED_MS) await removeFolder(path);
  }
}

/** Updates the time of last use, which `sweepSnapshots` reads. */
async function inUse(folder: string): Promise<string> {
  const now = new Date();
  await utimes(folder, now, now).catch(() => {});
  return folder;
}

async function copy(draft: string, file: BoundFile, bytes: Buffer | undefined): Promise<void> {
  if (hasNoTarget(file)) return;
  const path = join(draft, file.path);
  // The target of a link may be created before its directory.
  await mkdir(file.type === 'directory' ? path : dirname(path), { recursive: true, mode: 0o700 });
  if (file.type === 'directory') return;
  if (bytes) await writeFile(path, bytes, { flag: 'wx', mode: file.executable ? 0o500 : 0o400 });
  else await symlink(relative(dirname(path), join(draft, file.target ?? '')) || '.', path);
}

async function isIntact(folder: string, fingerprint: Fingerprint, { limits }: TrustPlace): Promise<boolean> {
  const copied = new BoundFolder('extension', folder, { budget: new BindingBudget(limits) });
  try {
    await copied.add(folder);
  } catch {
    return false;
  }
  const expected = fingerprint.files.filter((file) => file.in === 'extension' && !hasNoTarget(file));
  return textOf(copied.list()) === textOf(expected);
}

/** True for a link without a target. A copy contains no such link, because the link could lead to a new file later. */
function hasNoTarget({ type, target }: BoundFile): boolean {
  return type === 'symlink' && target === undefined;
}

/** Describes the files of a copy for comparison. A link to a file was copied as a file, so both are described alike. */
function textOf(files: readonly BoundFile[]): string {
  const lines = files.map(({ path, sha256, executable, target }) =>
    canonicalJson(sha256 === undefined ? { path, target } : { path, sha256, executable }),
  );
  return lines.sort().join('\n');
}

async function removeFolder(folder: string): Promise<void> {
  // Files can only be deleted from a directory that is writable.
  await setFolderModes(folder, 0o700).catch(() => {});
  await rm(folder, { recursive: true, force: true });
}

async function setFolderModes(folder: string, mode: number): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
  for (const path of [folder, ...folders]) await chmod(path, mode);
}

/** Returns the directory that holds the copies of all approved extension packages, with links resolved. */
function copiesIn(stateDir: string): string {
  return join(realLocation(stateDir), 'approved');
}

function copyPath(digest: string, stateDir: string): string {
  return join(copiesIn(stateDir), digest.replace(/^sha256:/, ''));
}
