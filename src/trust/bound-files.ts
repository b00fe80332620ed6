import { lstat, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { describeError } from '../errors.js';
import { isInside } from '../process/location.js';
import { BindingBudget, type BoundFile, BoundFolder, type FileSink } from './bound-file.js';
import { matchesPattern } from './path-pattern.js';
import { ItemUnboundError } from './trust-error.js';
import { type BindingLimits, EXTENSION_PATH, type TrustItem } from './trust-item.js';

/** Where the files of an item are looked for. */
export interface FilePlaces {
  /** The folder beside that of the extension whose files are bound where the command line names them. */
  readonly around: { readonly in: 'workspace' | 'definition'; readonly named: string; readonly real: string };
  /** The folder of the extension, without links. */
  readonly root: string | undefined;
  readonly cwd: string;
  readonly limits: BindingLimits;
}

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
  for (const path of namedPaths(item, places)) {
    const found = await findNamed(path, places);
    if (found === undefined) continue;
    const bound = await bindNamed(found, { around, extension });
    if (bound === undefined) unbound.add(relative(around.root, found.path) || '.');
    else if (bound.sha256 !== undefined) scripts.set(bound.path, bound.sha256);
  }
  for (const pattern of item.files ?? []) await addPattern(around, pattern);
  const files = [...(extension?.list() ?? []), ...around.list()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { files, scripts: Object.fromEntries(scripts), unbound: [...unbound].sort() };
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

/** What Node finds a script under without its being written. */
const SUFFIXES = ['', '.js', '.cjs', '.mjs', '.json', '.ts'];

const MANY_NAMES = 2_000;

/** Every path that a word of the command line could mean, or a part of a word such as in `--config=./a.json`. */
function namedPaths({ command, args = [] }: TrustItem, { around, root, cwd }: FilePlaces): Set<string> {
  const words = [command ?? '', ...args].map((word) => (root ? word.replaceAll(EXTENSION_PATH, root) : word));
  const parts = words.flatMap((word) => [word, word.replace(/^(-\w|@)/, ''), ...word.split(/[\s'"`;&|<>()=,:{}$]+/)]);
  const bases = [cwd, around.real, ...(root === undefined ? [] : [root])];
  const names = [...new Set(parts.filter((part) => part !== ''))];
  if (names.length > MANY_NAMES) throw new ItemUnboundError('too-large', `Its command line has ${names.length} words.`);
  return new Set(names.flatMap((name) => bases.flatMap((base) => SUFFIXES.map((end) => resolve(base, name + end)))));
}

interface NamedPath {
  readonly path: string;
  readonly real: string;
  readonly isFolder: boolean;
}

/** The path in terms of the folders without links, where it names something of the workspace or the extension. */
async function findNamed(path: string, places: FilePlaces): Promise<NamedPath | undefined> {
  const { around, root } = places;
  const named = isInside(path, around.named) ? join(around.real, relative(around.named, path)) : path;
  const isOurs = (candidate: string) =>
    isInside(candidate, around.real) || (root !== undefined && isInside(candidate, root));
  let real: string;
  try {
    await lstat(path);
    real = await realpath(path);
  } catch (error) {
    if (isAbsent(error) && !(await isLink(path))) return undefined;
    if (!isOurs(named)) return undefined;
    throw unreadable(path, error);
  }
  if (!isOurs(named) && !isOurs(real)) return undefined;
  // The name is what is bound, unless it says nothing of the workspace; where it leads is checked as it is read.
  const bound = isOurs(named) ? named : real;
  return { path: bound, real, isFolder: (await lstat(real)).isDirectory() && isOurs(real) };
}

function isLink(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );
}

/** A word that is too long for a path names no file either. */
function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG'].includes((error as NodeJS.ErrnoException).code ?? '');
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
  const start = await realpath(named).catch((error) => {
    if (wild >= 0 && isAbsent(error)) return undefined;
    throw unreadable(named, error);
  });
  if (start === undefined) return;
  if (!isInside(start, folder.root)) throw new ItemUnboundError('outside', `${named} leads out of the workspace.`);
  if (wild < 0) return folder.add(start);
  await folder.add(start, (path) => matchesPattern(relative(start, path).split(sep).join('/'), steps.slice(wild)));
}
