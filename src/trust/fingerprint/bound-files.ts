import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { describeError } from '../../errors.js';
import { isInside, realLocation } from '../../process/files/location.js';
import { readFirstLine } from '../../process/spawn-failure.js';
import { ItemUnboundError } from '../error.js';
import { type BindingLimits, EXTENSION_PATH, type TrustItem } from '../item.js';
import { BindingBudget, type BoundFile, BoundFolder, type FileSink } from './bound-file.js';
import { type KnownVariables, readCommandLine } from './command-line.js';
import { matchesPattern } from './path-pattern.js';

/** Where the files of an item are looked for. */
interface FilePlaces {
  /** The folder beside that of the extension whose files are bound if the command line names them. */
  readonly around: { readonly in: 'workspace' | 'definition'; readonly named: string; readonly real: string };
  /** The folder of the extension, without links. */
  readonly root: string | undefined;
  /** A folder beside the future copy of the extension, which runs in its place: `..` leads to the same from there. */
  readonly copy: string | undefined;
  readonly cwd: string;
  /** The path that the program was found at. */
  readonly program: string | undefined;
  /** The folder whose scripts are bound if the command line is not plain. */
  readonly definitions: string | undefined;
  readonly variables: KnownVariables;
  readonly limits: BindingLimits;
}

/** The files of an item. */
export interface BoundFiles {
  readonly files: readonly BoundFile[];
  /** SHA-256 of those that the command line names, by path. */
  readonly scripts: Readonly<Record<string, string>>;
  /** Folders that the command line names and that are no part of the extension: what lies in them is not bound. */
  readonly unbound: readonly string[];
  /** False if the files that the command line runs cannot all be listed. */
  readonly isPlain: boolean;
}

/**
 * Binds the whole extension, every file of the workspace or the extension that a word of the command line names, and what
 * `files` declares. If the line is not plain words, the scripts in the folder of its definition are bound as well.
 */
export async function bindFiles(item: TrustItem, places: FilePlaces, sink?: FileSink): Promise<BoundFiles> {
  const options = { budget: new BindingBudget(places.limits) };
  const around = new BoundFolder(places.around.in, places.around.real, options);
  const extension =
    places.root === undefined ? undefined : new BoundFolder('extension', places.root, { ...options, sink });
  await extension?.add(extension.root);
  const { paths, isPlain } = namedPaths(item, places);
  const scripts = new Map<string, string>();
  const unbound = new Set<string>();
  for (const path of paths) {
    const found = findNamed(path, places);
    if (found === undefined) continue;
    const bound = await bindNamed(found, { around, extension });
    if (bound === undefined) unbound.add(relative(around.root, found.path) || '.');
    else if (bound.sha256 !== undefined) scripts.set(bound.path, bound.sha256);
  }
  const { definitions } = places;
  if (!isPlain && definitions !== undefined && existsSync(definitions)) await around.add(definitions, isScript);
  for (const pattern of item.files ?? []) await addPattern(around, pattern);
  const files = [...(extension?.list() ?? []), ...around.list()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { files, scripts: Object.fromEntries(scripts), unbound: [...unbound].sort(), isPlain };
}

const MOST_WORDS = 2_500;

/** The paths that the words of the command line may mean, from the folder it runs in and from that of its definition. */
function namedPaths(item: TrustItem, places: FilePlaces): { paths: ReadonlySet<string>; isPlain: boolean } {
  const { cwd, root, copy, around, program, variables } = places;
  const folders = root === undefined ? [undefined] : [root, copy];
  const lines = folders.map((folder) =>
    readCommandLine(item, folder === undefined ? variables : within(folder, variables)),
  );
  const words = [...new Set(lines.flatMap((line) => [...line.words]))].filter((word) => word !== '');
  if (words.length > MOST_WORDS) {
    throw new ItemUnboundError('too-large', `Its command line must have at most ${MOST_WORDS} words.`);
  }
  const real = realLocation(cwd);
  const moved =
    copy !== undefined && root !== undefined && isInside(real, root) ? [join(copy, relative(root, real))] : [];
  const bases = new Set([cwd, real, root ?? around.real, around.real, ...moved]);
  const paths = words.flatMap((word) => [...bases].flatMap((base) => pathsOf(word, base)));
  return {
    paths: new Set(program === undefined ? paths : [program, ...paths]),
    isPlain: lines.every((line) => line.isPlain),
  };
}

function within(folder: string, variables: KnownVariables): KnownVariables {
  const values = Object.entries({ ...variables, extensionPath: EXTENSION_PATH });
  return Object.fromEntries(values.map(([name, value]) => [name, value.replaceAll(EXTENSION_PATH, () => folder)]));
}

/** A `..` behind a link is one place by the text of the path, and another one for the system: both are meant. */
function pathsOf(word: string, base: string): string[] {
  const path = resolve(base, word);
  if (/^\/(?:proc|dev\/fd)(?:\/|$)/.test(path)) {
    throw new ItemUnboundError('outside', `${path} is another place for each process: name it from the workspace.`);
  }
  const isClimbing = /(^|\/)\.\.(\/|$)/.test(word);
  return isClimbing ? [path, realLocation(isAbsolute(word) ? word : `${base}/${word}`)] : [path];
}

const SCRIPT = /\.(?:[cm]?[jt]sx?|(?:ba|z|k|fi)?sh|pyw?|rb|p[lm]|php|lua|awk|tcl|jl|r|ps1|bat|cmd)$/i;

/** Logs, settings and other data do not count: a hook may write them. */
function isScript(path: string): boolean {
  try {
    const is = statSync(path, { throwIfNoEntry: false });
    if (!is?.isFile()) return false;
    return (is.mode & 0o111) !== 0 || SCRIPT.test(path) || readFirstLine(path)?.indexOf('#!') === 0;
  } catch {
    // A circle of links runs nothing.
    return false;
  }
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
