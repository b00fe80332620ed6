import { isUtf8 } from 'node:buffer';
import { lstatSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { describeError } from '../../errors.js';
import { isInside, realLocation } from '../../process/files/location.js';
import { HEAD_BYTES, readFirstLine } from '../../process/spawn-failure.js';
import { ItemUnboundError } from '../error.js';
import type { TrustItem } from '../item.js';
import { BindingBudget, type BoundFile, BoundFolder, type FileSink } from './bound-file.js';
import { type FilePlaces, NamedPaths } from './named-paths.js';
import { matchesPattern } from './path-pattern.js';

/** The files of an item. */
export interface BoundFiles {
  readonly files: readonly BoundFile[];
  /** SHA-256 of those that the command line names, by path. */
  readonly scripts: Readonly<Record<string, string>>;
  /** Folders that the command line names and that are no part of the extension: what lies in them is not bound. */
  readonly unbound: readonly string[];
}

/** Binds the whole extension, every file of the workspace that the command line names, and what `files` declares. */
export async function bindFiles(item: TrustItem, places: FilePlaces, sink?: FileSink): Promise<BoundFiles> {
  const options = { budget: new BindingBudget(places.limits) };
  const around = new BoundFolder(places.around.in, places.around.real, options);
  const extension =
    places.root === undefined ? undefined : new BoundFolder('extension', places.root, { ...options, sink });
  await extension?.add(extension.root);
  const scripts = new Map<string, string>();
  const unbound = new Set<string>();
  const paths = new NamedPaths(places, realLocation(places.cwd));
  paths.add([item.command ?? '', ...(item.args ?? [])]);
  for (const path of paths.list) {
    paths.checkFolder(dirname(path));
    const found = findNamed(path, places);
    if (found === undefined) continue;
    const bound = await bindNamed(found, { around, extension });
    if (found.isFolder) paths.addBase(found.real);
    if (bound === undefined) unbound.add(relative(around.root, found.path) || '.');
    else if (bound.sha256 !== undefined) {
      scripts.set(bound.path, bound.sha256);
      paths.add(interpreterOf(found.real));
    }
  }
  for (const pattern of item.files ?? []) await addPattern(around, pattern);
  const files = [...(extension?.list() ?? []), ...around.list()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { files, scripts: Object.fromEntries(scripts), unbound: [...unbound].sort() };
}

/** The first line of a script is a command line, too: a program, and all that stands behind it as one argument. */
function interpreterOf(path: string): string[] {
  const line = readFirstLine(path);
  if (line?.indexOf('#!') !== 0) return [];
  const isCut = line.length === HEAD_BYTES && !line.toString().endsWith('\n');
  if (isCut || !isUtf8(line)) {
    throw new ItemUnboundError('unreadable', `The first line of ${path} is too long, or no UTF-8.`);
  }
  const [, program = '', argument = ''] = /^#![ \t]*([^ \t\n]*)[ \t]*([^\n]*)/.exec(line.toString()) ?? [];
  return [program, argument, argument.replace(/[ \t]+$/, '')];
}

interface Folders {
  readonly around: BoundFolder;
  readonly extension: BoundFolder | undefined;
}

/** Undefined for a folder, which is not bound unless it is of the extension. */
async function bindNamed(found: NamedPath, { around, extension }: Folders) {
  // All of the extension is bound already.
  if (extension && isInside(found.real, extension.root)) return extension.get(found.real);
  if (found.isFolder) return undefined;
  await around.add(found.path);
  return around.get(found.path);
}

const keyOf = (file: BoundFile) => `${file.in}/${file.path}`;

/** In bytes, on most systems. */
const LONG_NAME = 255;

interface NamedPath {
  readonly path: string;
  readonly real: string;
  readonly isFolder: boolean;
}

/** The path in terms of the folders without links, where it names something of the workspace or the extension. */
function findNamed(path: string, places: FilePlaces): NamedPath | undefined {
  const { around, root } = places;
  const named = isInside(path, around.named) ? join(around.real, relative(around.named, path)) : path;
  const isOurs = (candidate: string) =>
    isInside(candidate, around.real) || (root !== undefined && isInside(candidate, root));
  let real: string;
  try {
    // Most are words that name nothing: no error is made for each of them.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    real = realpathSync.native(path);
  } catch (error) {
    if (isAbsent(error, path) && !isLink(path)) return undefined;
    if (!isOurs(named)) return undefined;
    throw unreadable(path, error);
  }
  if (!isOurs(named) && !isOurs(real)) return undefined;
  // The name is what is bound, unless it says nothing of the workspace; where it leads is checked as it is read.
  const bound = isOurs(named) ? named : real;
  return { path: bound, real, isFolder: lstatSync(real).isDirectory() && isOurs(real) };
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/** A name that is too long names nothing. A path may do so for a program that looks from a folder further in. */
function isAbsent(error: unknown, path: string): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code === 'ENAMETOOLONG') return path.split(sep).some((name) => Buffer.byteLength(name) > LONG_NAME);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function unreadable(path: string, cause: unknown): ItemUnboundError {
  return new ItemUnboundError('unreadable', `${path} could not be read: ${describeError(cause)}`, { cause });
}

async function addPattern(folder: BoundFolder, pattern: string): Promise<void> {
  const steps = pattern.split('/').filter((step) => step !== '' && step !== '.');
  if (isAbsolute(pattern) || steps.includes('..') || pattern.includes('\0')) {
    throw new ItemUnboundError('outside', `The pattern ${JSON.stringify(pattern)} leads out of the workspace.`);
  }
  const wild = steps.findIndex((step) => /[*?]/.test(step));
  const named = join(folder.root, ...(wild < 0 ? steps : steps.slice(0, wild)));
  const start = findStart(named, wild >= 0);
  if (start === undefined) return;
  if (!isInside(start, folder.root)) throw new ItemUnboundError('outside', `${named} leads out of the workspace.`);
  if (wild < 0) return folder.add(start);
  await folder.add(start, (path) => matchesPattern(relative(start, path).split(sep).join('/'), steps.slice(wild)));
}

/** Where a pattern has wild cards, nothing has to be there yet. */
function findStart(path: string, mayBeAbsent: boolean): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (mayBeAbsent && isAbsent(error, path)) return undefined;
    throw unreadable(path, error);
  }
}
