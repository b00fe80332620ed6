import { lstatSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { describeError } from '../../errors.js';
import { replaceVariables } from '../../internal/placeholder.js';
import { compileGlob } from '../../process/files/glob.js';
import { isInside, realLocation } from '../../process/files/location.js';
import { ItemUnboundError } from '../error.js';
import type { BindingLimits, TrustItem } from '../item.js';
import { BindingBudget, type BoundFile, BoundFolder, type FileReading } from './bound-file.js';

/** Variables whose values are known in advance, by name. */
export type KnownVariables = Readonly<Record<string, string>>;

/** The directories in which the files of an item are looked for. */
interface FilePlaces {
  /**
   * The directory whose files are included if the command line names them: the workspace, or the directory of the
   * definition.
   */
  readonly around: { readonly in: 'workspace' | 'definition'; readonly named: string; readonly real: string };
  /** The directory of the extension package, with links resolved. */
  readonly root: string | undefined;
  readonly cwd: string;
  /** The path of the program. */
  readonly program: string | undefined;
  readonly variables: KnownVariables;
  readonly limits: BindingLimits;
}

/** The files in the fingerprint of an item. */
export interface BoundFiles {
  readonly files: readonly BoundFile[];
  /** SHA-256 of the files that the command line names, by path. */
  readonly scripts: Readonly<Record<string, string>>;
  /** Directories outside the extension package that the command line names. The approval does not cover their files. */
  readonly unbound: readonly string[];
}

/**
 * Collects the files of an item: the whole extension package, the files that the command line names as plain words, and
 * the files that `files` declares. No other file is guessed from the syntax of a shell: see
 * docs/decisions/0070-approval-covers-named-files.md.
 */
export async function bindFiles(item: TrustItem, places: FilePlaces, reading: FileReading = {}): Promise<BoundFiles> {
  const { around, root } = places;
  const budget = new BindingBudget(places.limits);
  const folder = new BoundFolder(around.in, around.real, { budget, hashes: reading.hashes });
  const extension = root === undefined ? undefined : new BoundFolder('extension', root, { budget, ...reading });
  await extension?.add(extension.root);
  const scripts = new Map<string, string>();
  const unbound = new Set<string>();
  for (const { path, real, isFolder } of namedPaths(item, places)) {
    const isBound = extension !== undefined && isInside(real, extension.root);
    if (isFolder && !isBound) unbound.add(relative(around.real, path) || '.');
    if (!isFolder && !isBound) await folder.add(path);
    const bound = isBound ? extension.get(real) : folder.get(path);
    if (bound?.sha256 !== undefined) scripts.set(bound.path, bound.sha256);
  }
  for (const pattern of item.files ?? []) await addPattern(folder, pattern);
  const files = [...(extension?.list() ?? []), ...folder.list()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return { files, scripts: Object.fromEntries(scripts), unbound: [...unbound].sort() };
}

const keyOf = (file: BoundFile) => `${file.in}/${file.path}`;

interface NamedPath {
  readonly path: string;
  readonly real: string;
  readonly isFolder: boolean;
}

/** Finds the paths that a command line names, from the working directory, the workspace or the extension package. */
function namedPaths(item: TrustItem, places: FilePlaces): readonly NamedPath[] {
  const { around, root, cwd, program, variables } = places;
  const words = new Set(wordsOf(item, variables));
  if (program !== undefined) words.add(program);
  words.delete('');
  for (const word of words) refuseClimbing(word, places);
  const paths = new Set<string>();
  for (const base of new Set([cwd, around.real, root ?? cwd])) {
    for (const word of words) for (const path of pathsOf(word, base)) paths.add(path);
  }
  return [...paths].map((path) => findPath(path, places)).filter((found) => found !== undefined);
}

/** A path with `..`. */
const CLIMBING = /(^|\/)\.\.(\/|$)/;

/**
 * Refuses a word that leads out of an extension package of the workspace. The package runs from a copy, so the word
 * would lead to another file.
 */
function refuseClimbing(word: string, { around, root, cwd }: FilePlaces): void {
  if (root === undefined || around.in !== 'workspace' || !CLIMBING.test(word)) return;
  if (isInside(resolve(isInside(cwd, root) ? cwd : root, word), root)) return;
  throw new ItemUnboundError(
    'outside',
    `${JSON.stringify(word)} leads out of the extension. Use a path relative to the workspace.`,
  );
}

/** The longest argument that Linux accepts. */
const LONG_LINE = 131_072;
/** Matches one word between blanks. Blanks in quotes belong to the word. */
const WORD = /(?:"[^"]*"|'[^']*'|[^ \t\n])+/g;
/**
 * Matches a word that redirects output to the file in the next word. Such a file is not part of the fingerprint: a log
 * that changes would need an approval at each run.
 */
const OUTPUT = /^(?:\d|&)?>[>|]?$/;

/** Returns each part of a command line, and each of its words without quotes, with known variables replaced. */
function wordsOf(item: TrustItem, variables: KnownVariables): readonly string[] {
  const given = [item.command ?? '', ...(item.args ?? [])];
  if (given.reduce((sum, { length }) => sum + length, 0) > LONG_LINE) {
    throw new ItemUnboundError('too-large', `The command line must have at most ${LONG_LINE} characters.`);
  }
  const words = given.flatMap((text) => {
    const split = text.match(WORD) ?? [];
    const read = split.filter((_word, at) => !OUTPUT.test(split[at - 1] ?? ''));
    return [text, ...read.map((word) => word.replace(/["']/g, ''))];
  });
  const expand = item.kind === 'mcp-server' ? expandServer : expandHook;
  return words.map((word) => expand(word, variables));
}

/** Replaces the variables of a hook. An unknown variable is kept. */
function expandHook(text: string, variables: KnownVariables): string {
  return text.replace(/\$(?:\{(\w+)(?::?-[^{}]*)?\}|(\w+))/g, (whole: string, braced?: string, bare = '') => {
    const name = braced ?? bare;
    return Object.hasOwn(variables, name) ? (variables[name] ?? '') : whole;
  });
}

/** Replaces the variables of an MCP server as its start does: an unknown one becomes its default or nothing. */
function expandServer(text: string, variables: KnownVariables): string {
  return replaceVariables(text, (_whole, name, fallback = '') =>
    Object.hasOwn(variables, name) ? (variables[name] ?? '') : fallback,
  );
}

/**
 * Returns the path of a word. A path with `..` after a link has two meanings: by its string, and with the link followed
 * first. Returns both.
 */
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
    if (!isOurs(named)) return undefined;
    throw new ItemUnboundError('unreadable', `${path} could not be read: ${describeError(cause)}`, { cause });
  }
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
  // Shells and frameworks read `[id]` in different ways, so here it is a plain name.
  const matches = compileGlob(steps.slice(wild).join('/').replace(/[[\\]/g, '\\$&'));
  await folder.add(start, (path) => matches(relative(start, path).split(sep).join('/')));
}
