import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { describeError } from '../../errors.js';
import { isInside, realLocation } from '../../process/files/location.js';
import { readFirstLine } from '../../process/spawn-failure.js';
import { ItemUnboundError } from '../error.js';
import type { BindingLimits, TrustItem } from '../item.js';
import { BindingBudget, type BoundFile, BoundFolder, type FileSink } from './bound-file.js';
import { type KnownVariables, readCommandLine } from './command-line.js';
import { matchesPattern } from './path-pattern.js';

/** The folders in which the files of an item are searched. */
interface FilePlaces {
  /** The folder beside that of the extension whose files are bound if the command line names them. */
  readonly around: { readonly in: 'workspace' | 'definition'; readonly named: string; readonly real: string };
  /** The folder of the extension, without links. */
  readonly root: string | undefined;
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
 * Binds the whole extension, every file of the workspace or the extension that a word of the command line names, and the
 * files that `files` declares. If the line is not plain words, the scripts in the folder of its definition are bound too.
 */
export async function bindFiles(item: TrustItem, places: FilePlaces, sink?: FileSink): Promise<BoundFiles> {
  const { around, root, program } = places;
  const options = { budget: new BindingBudget(places.limits) };
  const folder = new BoundFolder(around.in, around.real, options);
  const extension = root === undefined ? undefined : new BoundFolder('extension', root, { ...options, sink });
  await extension?.add(extension.root);
  const { words, isPlain } = readCommandLine(item, places.variables);
  const scripts = new Map<string, string>();
  const unbound = new Set<string>();
  for (const { path, real, isFolder } of findNamed(program === undefined ? words : [program, ...words], places)) {
    const isBound = extension !== undefined && isInside(real, extension.root);
    if (isFolder && !isBound) unbound.add(relative(around.real, path) || '.');
    if (!isFolder && !isBound) await folder.add(path);
    const bound = isBound ? extension.get(real) : folder.get(path);
    if (bound?.sha256 !== undefined) scripts.set(bound.path, bound.sha256);
  }
  const { definitions } = places;
  if (!isPlain && definitions !== undefined && existsSync(definitions)) await folder.add(definitions, isScript);
  for (const pattern of item.files ?? []) await addPattern(folder, pattern);
  const files = [...(extension?.list() ?? []), ...folder.list()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { files, scripts: Object.fromEntries(scripts), unbound: [...unbound].sort(), isPlain };
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

const keyOf = (file: BoundFile) => `${file.in}/${file.path}`;

interface NamedPath {
  readonly path: string;
  readonly real: string;
  readonly isFolder: boolean;
}

const MOST_PATHS = 10_000;

/**
 * Finds what words name: from the folder that the program runs in, from the workspace and the extension, and from each
 * folder that another word names, as in `cd hooks && ./lint.sh`.
 */
function* findNamed(words: Iterable<string>, places: FilePlaces): Generator<NamedPath> {
  const { around, root, cwd } = places;
  const bases = new Set([cwd, around.real, root ?? cwd]);
  const seen = new Set<string>();
  // Also visits the folders that are added meanwhile.
  for (const base of bases) {
    for (const word of words) {
      if (base === cwd) refuseClimbing(word, places);
      for (const path of pathsOf(word, base)) {
        if (word === '' || seen.has(path)) continue;
        if (seen.add(path).size > MOST_PATHS) {
          throw new ItemUnboundError('too-large', `Its command line must name at most ${MOST_PATHS} paths.`);
        }
        const found = findPath(path, places);
        if (found?.isFolder) bases.add(found.real);
        if (found) yield found;
      }
    }
  }
}

/** An extension of the workspace runs from a copy: from there `..` leads elsewhere. */
function refuseClimbing(word: string, { around, root, cwd }: FilePlaces): void {
  if (root === undefined || around.in !== 'workspace' || !CLIMBING.test(word)) return;
  if (isInside(resolve(isInside(cwd, root) ? cwd : root, word), root)) return;
  throw new ItemUnboundError(
    'outside',
    `${JSON.stringify(word)} leads out of the extension: name it from the workspace.`,
  );
}

const CLIMBING = /(^|\/)\.\.(\/|$)/;

/** A `..` behind a link is one place by the text of the path, and another one for the system: both are meant. */
function pathsOf(word: string, base: string): string[] {
  const path = resolve(base, word);
  if (/^\/(?:proc|dev\/fd)(?:\/|$)/.test(path)) {
    throw new ItemUnboundError('outside', `${path} is another place for each process: name it from the workspace.`);
  }
  return CLIMBING.test(word) ? [path, realLocation(isAbsolute(word) ? word : `${base}/${word}`)] : [path];
}

/** In bytes, on most systems. */
const LONG_NAME = 255;

/** The path in terms of the folders without links, if it names something of the workspace or the extension. */
function findPath(path: string, { around, root }: FilePlaces): NamedPath | undefined {
  const named = isInside(path, around.named) ? join(around.real, relative(around.named, path)) : path;
  const isOurs = (candidate: string) =>
    isInside(candidate, around.real) || (root !== undefined && isInside(candidate, root));
  // A name that is too long names nothing. A path may do so for a program that looks from a folder further in.
  if (path.split(sep).some((name) => Buffer.byteLength(name) > LONG_NAME)) return undefined;
  try {
    // Most are words that name nothing: no error is made for each of them.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    const real = realpathSync.native(path);
    if (!isOurs(named) && !isOurs(real)) return undefined;
    // The name is what is bound, unless it says nothing of the workspace; where it leads is checked as it is read.
    return { path: isOurs(named) ? named : real, real, isFolder: isOurs(real) && lstatSync(real).isDirectory() };
  } catch (cause) {
    if (isOurs(named)) throw unreadable(path, cause);
    return undefined;
  }
}

function unreadable(path: string, cause: unknown): ItemUnboundError {
  return new ItemUnboundError('unreadable', `${path} could not be read: ${describeError(cause)}`, { cause });
}

async function addPattern(folder: BoundFolder, pattern: string): Promise<void> {
  const steps = pattern.split('/').filter((step) => step !== '' && step !== '.');
  if (isAbsolute(pattern) || steps.includes('..')) {
    throw new ItemUnboundError('outside', `The pattern ${JSON.stringify(pattern)} leads out of the workspace.`);
  }
  const wild = steps.findIndex((step) => /[*?]/.test(step));
  const named = join(folder.root, ...(wild < 0 ? steps : steps.slice(0, wild)));
  // What a pattern with wild cards is for may come later.
  if (wild >= 0 && lstatSync(named, { throwIfNoEntry: false }) === undefined) return;
  const start = folder.resolve(named);
  if (wild < 0) return folder.add(start);
  await folder.add(start, (path) => matchesPattern(relative(start, path).split(sep).join('/'), steps.slice(wild)));
}
