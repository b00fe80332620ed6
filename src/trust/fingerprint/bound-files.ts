import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { describeError } from '../../errors.js';
import { compileGlob } from '../../process/files/glob.js';
import { isInside, realLocation } from '../../process/files/location.js';
import { readFirstLine } from '../../process/spawn-failure.js';
import { ItemUnboundError } from '../error.js';
import type { BindingLimits, TrustItem } from '../item.js';
import { BindingBudget, type BoundFile, BoundFolder, type FileReading } from './bound-file.js';
import { type KnownVariables, readCommandLine } from './command-line.js';

/** The directories in which the files of an item are looked for. */
interface FilePlaces {
  /**
   * The directory whose files are included if the command line names them: the workspace, or that of the definition.
   */
  readonly around: { readonly in: 'workspace' | 'definition'; readonly named: string; readonly real: string };
  /** The directory of the extension package, with links resolved. */
  readonly root: string | undefined;
  readonly cwd: string;
  /** The path of the program. */
  readonly program: string | undefined;
  /** The directory whose scripts are included if the command line uses shell syntax. */
  readonly definitions: string | undefined;
  readonly variables: KnownVariables;
  readonly limits: BindingLimits;
}

/** The files in the fingerprint of an item. */
export interface BoundFiles {
  readonly files: readonly BoundFile[];
  /** SHA-256 of the files that the command line names, by path. */
  readonly scripts: Readonly<Record<string, string>>;
  /** Directories that the command line names outside of the extension package. Their content is not included. */
  readonly unbound: readonly string[];
  /** False if the command line uses shell syntax, so that it may run files that cannot be determined. */
  readonly isPlain: boolean;
}

/**
 * Collects the files of an item: the whole extension package, files that the command line names, and files that `files`
 * declares.
 *
 * If the command line uses shell syntax, the scripts in the directory of its definition are added.
 */
export async function bindFiles(item: TrustItem, places: FilePlaces, reading: FileReading = {}): Promise<BoundFiles> {
  const { around, root, program } = places;
  const budget = new BindingBudget(places.limits);
  const folder = new BoundFolder(around.in, around.real, { budget, hashes: reading.hashes });
  const extension = root === undefined ? undefined : new BoundFolder('extension', root, { budget, ...reading });
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

/** True for a file that can be run. Logs, settings and other data are excluded, since a hook may write them. */
function isScript(path: string): boolean {
  try {
    const is = statSync(path, { throwIfNoEntry: false });
    if (!is?.isFile()) return false;
    return (is.mode & 0o111) !== 0 || SCRIPT.test(path) || readFirstLine(path)?.indexOf('#!') === 0;
  } catch {
    // A cycle of links cannot be run.
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
 * Finds the paths that the words of a command line name. Each word is resolved against the working directory, the
 * workspace, the extension package, and each directory that another word names, as in `cd hooks && ./lint.sh`.
 */
function* findNamed(words: Iterable<string>, places: FilePlaces): Generator<NamedPath> {
  const { around, root, cwd } = places;
  const bases = new Set([cwd, around.real, root ?? cwd]);
  const seen = new Set<string>();
  for (const word of words) refuseClimbing(word, places);
  // The loop also visits directories that are added while it runs.
  for (const base of bases) {
    for (const word of words) {
      for (const path of pathsOf(word, base)) {
        if (word === '' || seen.has(path)) continue;
        if (seen.add(path).size > MOST_PATHS) {
          throw new ItemUnboundError('too-large', `The command line must name at most ${MOST_PATHS} paths.`);
        }
        const found = findPath(path, places);
        if (found?.isFolder) bases.add(found.real);
        if (found) yield found;
      }
    }
  }
}

/**
 * Refuses a path with `..` that leaves an extension package of the workspace. The package runs from a copy, where that
 * path would lead to another file.
 */
function refuseClimbing(word: string, { around, root, cwd }: FilePlaces): void {
  if (root === undefined || around.in !== 'workspace' || !CLIMBING.test(word)) return;
  if (isInside(resolve(isInside(cwd, root) ? cwd : root, word), root)) return;
  throw new ItemUnboundError(
    'outside',
    `${JSON.stringify(word)} leads out of the extension. Use a path relative to the workspace.`,
  );
}

const CLIMBING = /(^|\/)\.\.(\/|$)/;

/** Returns both readings of a path with `..` behind a link: by its string, and with the link followed first. */
function pathsOf(word: string, base: string): string[] {
  const path = resolve(base, word);
  if (/^\/(?:proc|dev\/fd)(?:\/|$)/.test(path)) {
    throw new ItemUnboundError('outside', `${path} is different for each process. Use a path in the workspace.`);
  }
  return CLIMBING.test(word) ? [path, realLocation(isAbsolute(word) ? word : `${base}/${word}`)] : [path];
}

/** The longest file name on most systems, in bytes. */
const LONG_NAME = 255;

/**
 * Returns the path with links resolved, if it lies in the workspace or the extension package. Returns undefined
 * otherwise.
 */
function findPath(path: string, { around, root }: FilePlaces): NamedPath | undefined {
  const named = isInside(path, around.named) ? join(around.real, relative(around.named, path)) : path;
  const isOurs = (candidate: string) =>
    isInside(candidate, around.real) || (root !== undefined && isInside(candidate, root));
  // The system rejects a longer name anyway. A program may still use the string in another way.
  if (path.split(sep).some((name) => Buffer.byteLength(name) > LONG_NAME)) return undefined;
  try {
    // Most words name no file. This check avoids the cost of an exception.
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined;
    const real = realpathSync.native(path);
    if (!isOurs(named) && !isOurs(real)) return undefined;
    // Includes the path as named if it lies in the workspace. Its target is checked when it is read.
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
    throw new ItemUnboundError('outside', `The pattern ${JSON.stringify(pattern)} must not lead out of the workspace.`);
  }
  const wild = steps.findIndex((step) => /[*?]/.test(step));
  const named = join(folder.root, ...(wild < 0 ? steps : steps.slice(0, wild)));
  // A pattern with wildcards may match files that are created later.
  if (wild >= 0 && lstatSync(named, { throwIfNoEntry: false }) === undefined) return;
  const start = folder.resolve(named);
  if (wild < 0) return folder.add(start);
  const matches = compileGlob(steps.slice(wild).join('/'));
  await folder.add(start, (path) => matches(relative(start, path).split(sep).join('/')));
}
