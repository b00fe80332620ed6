import { lstatSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { describeError } from '../errors.js';
import { homeFolder } from '../process/home-folder.js';
import { isInside, realLocation } from '../process/location.js';
import { readFirstLine } from '../process/spawn-failure.js';
import { BindingBudget, type BoundFile, BoundFolder, type FileSink } from './bound-file.js';
import { namesIn } from './command-words.js';
import { leadsByOwnPlace } from './own-place.js';
import { matchesPattern } from './path-pattern.js';
import { ItemUnboundError } from './trust-error.js';
import { type BindingLimits, EXTENSION_PATH, type TrustItem } from './trust-item.js';

/** Where the files of an item are looked for. */
export interface FilePlaces {
  /** The folder beside that of the extension whose files are bound where the command line names them. */
  readonly around: { readonly in: 'workspace' | 'definition'; readonly named: string; readonly real: string };
  /** The folder of the extension, without links. */
  readonly root: string | undefined;
  /** A folder beside which the copy of the extension will lie that is started in its place. */
  readonly copy: string | undefined;
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
  const paths = new NamedPaths(places, realLocation(places.cwd));
  paths.add([item.command ?? '', ...(item.args ?? [])]);
  for (const path of paths.list) {
    paths.checkFolder(dirname(path));
    const found = findNamed(path, places);
    if (found === undefined) continue;
    const bound = await bindNamed(found, { around, extension });
    if (bound === undefined) unbound.add(relative(around.root, found.path) || '.');
    else if (bound.sha256 !== undefined) {
      scripts.set(bound.path, bound.sha256);
      // The first line of a script is a command line, too.
      const line = readFirstLine(found.real);
      if (line?.startsWith('#!')) paths.add([line.slice(2)]);
    }
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

/** What Node and `python -m` find a script under without its being written. */
const SUFFIXES = ['', '.js', '.cjs', '.mjs', '.json', '.ts', '.py', '/__main__.py'];

/** What a shell puts the home folder in the place of, whoever's it says it is. */
const AT_HOME = /~[\w.-]*(?=\/)|\$(?:HOME\b|\{HOME\b[^{}]*\})/g;

const MANY_PATHS = 16_000;
/** No argument is longer on Linux; what nobody reads may be no longer in all, since looking through it holds others up. */
const LONG_LINE = 131_072;

/** Every path that the words of a command line could mean. Those that are added while it is gone through come last. */
class NamedPaths {
  readonly list = new Set<string>();
  private readonly folders = new Set<string>();
  private readonly bases: readonly string[];
  /** Those in the copy of the extension: what leads out of it leads elsewhere. */
  private readonly moved: readonly string[];

  /** `realCwd` is the folder that a program finds itself in, `cwd` how that was named. */
  constructor(
    private readonly places: FilePlaces,
    private readonly realCwd: string,
  ) {
    const { cwd, around, root = around.real, copy } = places;
    this.bases = [...new Set([cwd, realCwd, around.real, root])];
    const inside = copy === undefined ? [] : this.bases.filter((base) => isInside(base, root));
    this.moved = inside.map((base) => join(copy ?? '', relative(root, base)));
  }

  add(words: readonly string[]): void {
    if (words.reduce((sum, { length }) => sum + length, 0) > LONG_LINE) {
      throw new ItemUnboundError('too-large', `Its command line has more than ${LONG_LINE} characters.`);
    }
    for (const name of words.flatMap((word) => this.readings(word)).flatMap((word) => namesIn(word))) {
      const isClimbing = /(^|\/)\.\.(\/|$)/.test(name);
      if (isClimbing) refuseDetour(this.realCwd, name);
      const bases = isClimbing ? [...this.bases, ...this.moved] : this.bases;
      for (const base of bases) for (const end of SUFFIXES) this.list.add(resolve(base, name + end));
      if (this.list.size > MANY_PATHS) throw new ItemUnboundError('too-large', 'Its command line has too many words.');
    }
  }

  /** Also where nothing lies there for us: it may for the program. */
  checkFolder(folder: string): void {
    if (this.folders.has(folder)) return;
    if (leadsByOwnPlace(folder)) {
      throw new ItemUnboundError('outside', `${folder} is another place for each process: name it from the workspace.`);
    }
    this.folders.add(folder);
  }

  /** A word with the folder of the extension or its copy in it, and as a shell reads it that knows where home is. */
  private readings(word: string): string[] {
    const { root = EXTENSION_PATH, copy = root } = this.places;
    const home = homeFolder() ?? '~';
    const given = [root, copy].map((folder) => word.replaceAll(EXTENSION_PATH, () => folder));
    const read = given.map((text) => text.replace(/~\+(?=\/)/g, '.').replace(AT_HOME, () => home));
    return [...new Set([...given, ...read])];
  }
}

/** A `..` after a link is one place for who reads the text, and another one for who follows the link. */
function refuseDetour(base: string, name: string): void {
  const [text, followed] = [resolve(base, name), isAbsolute(name) ? name : `${base}/${name}`];
  if (realLocation(text) === realLocation(followed)) return;
  throw new ItemUnboundError('outside', `"${name}" goes up from a link, which leads to more than one place.`);
}

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
    if (isAbsent(error) && !isLink(path)) return undefined;
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
    if (mayBeAbsent && isAbsent(error)) return undefined;
    throw unreadable(path, error);
  }
}
