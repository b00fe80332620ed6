import { readdir, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readBytes } from '../process/files/file-bytes.js';
import { isInside } from '../process/files/location.js';
import { PluginUntrustedError } from './error.js';

const MOST_FILES = 1_000;
const MOST_NAMES = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;

const CODE = /\.(?:[cm]?[jt]sx?|wasm|node)$/;

interface PluginStart {
  readonly path: string;
  readonly workspaceDir: string;
  /** Absolute paths of the `files` in the plugin's entry. */
  readonly named: readonly string[];
  /** The directory of the plugin's package. */
  readonly folder?: string | undefined;
}

/**
 * Lists the files of a plugin: its module, literal relative imports and URLs, the files and directories in `named`, and
 * the code of its package. If a file's imports cannot all be determined, the code of that file's directory is added.
 * Throws a PluginUntrustedError if that directory is the workspace.
 */
export async function filesOf(start: PluginStart): Promise<string[]> {
  const { path, workspaceDir, named, folder: own } = start;
  const fail = (problem: string) => new PluginUntrustedError(path, problem);
  const ofPackage = own === undefined ? [] : await codeIn(own);
  const found = new Set([path, ...(await filesNamed(start)), ...ofPackage]);
  const root = await realpath(workspaceDir);
  const realOf = async (file: string) => resolve(workspaceDir, relative(root, await realpath(file).catch(() => file)));
  const covered = own === undefined ? [] : [own, await realOf(own)];
  const folders = new Set<string>();
  let [names, bytes] = [0, 0];
  for (const file of found) {
    if (found.size > MOST_FILES)
      throw fail(
        `it consists of more than ${MOST_FILES} files, the limit for one approval. Bundle it into fewer files.`,
      );
    if (!CODE.test(file)) continue;
    const read = await readBytes(file, MOST_BYTES - bytes);
    if ('problem' in read) throw fail(`${file} cannot be read: ${read.problem}`);
    bytes += read.bytes.length;
    const { paths, isComplete } = await importsIn(read.bytes.toString());
    names += paths.length;
    if (names > MOST_NAMES)
      throw fail(`it has more than ${MOST_NAMES} imports, the limit for one approval. Bundle it into fewer files.`);
    // Some loaders resolve imports from a symbolic link's directory, others from the directory of its target. Both are
    // searched.
    for (const each of new Set([file, await realOf(file)])) {
      for (const name of paths) for (const it of await filesAt(name, dirname(each))) found.add(it);
      if (isComplete || covered.some((directory) => isInside(each, directory))) continue;
      const folder = await folderOf(each, workspaceDir);
      if (folder === undefined && named.length === 0) throw fail(uncovered(file));
      if (folder === undefined || folders.has(folder)) continue;
      folders.add(folder);
      for (const it of await codeIn(folder)) found.add(it);
    }
  }
  return [...found];
}

function uncovered(file: string): string {
  return (
    `the imports of ${file} cannot all be determined (it uses \`require\`, a computed import or an import such as \`#name\`, or its syntax is invalid), and its ` +
    'directory is the workspace itself or lies outside it. Write each import as a literal, or move the file to a directory ' +
    'of its own, or list the files that the plugin loads in the `files` of its entry.'
  );
}

async function filesNamed({ path: plugin, named, workspaceDir }: PluginStart): Promise<readonly string[]> {
  const fail = (problem: string) => new PluginUntrustedError(plugin, problem);
  const files: string[] = [];
  for (const path of named) {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw fail(`its \`files\` name ${path}, which does not exist. Correct the path.`);
    const isFolder = found.isDirectory();
    if (isFolder && (await realpath(path)) === (await realpath(workspaceDir))) {
      throw fail('its `files` must not name the whole workspace. Name single files and directories in it.');
    }
    files.push(...(isFolder ? await codeIn(path) : [path]));
  }
  return files;
}

/**
 * Returns the directory to approve as a whole if a file's imports are unknown: the nearest directory with a
 * package.json, or else the file's own directory. Undefined if that directory is the workspace itself or lies outside
 * it.
 */
async function folderOf(path: string, workspaceDir: string): Promise<string | undefined> {
  const own = dirname(path);
  const isBelow = (folder: string) => folder !== workspaceDir && isInside(folder, workspaceDir);
  for (let folder = own; isBelow(folder); folder = dirname(folder)) {
    if ((await stat(join(folder, 'package.json')).catch(() => undefined))?.isFile()) return folder;
  }
  return isBelow(own) ? own : undefined;
}

/**
 * Lists the code files and package.json files in a directory and its subdirectories, except in `node_modules`. Throws a
 * PluginUntrustedError if the directory holds too many files.
 */
async function codeIn(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  const seen = new Set<string>();
  const folders = [folder];
  for (const each of folders) {
    const real = await realpath(each);
    if (seen.has(real)) continue;
    seen.add(real);
    for (const name of (await readdir(each)).sort()) {
      const path = join(each, name);
      const kind = await stat(path).catch(() => undefined);
      if (kind?.isDirectory() && name !== 'node_modules') folders.push(path);
      if (kind?.isFile() && (CODE.test(name) || name === 'package.json')) found.push(path);
    }
    if (found.length + folders.length > MOST_FILES) {
      throw new PluginUntrustedError(
        folder,
        `it holds more than ${MOST_FILES} files and directories, the limit for one approval. Move the plugin to a smaller directory.`,
      );
    }
  }
  return found;
}

interface Imports {
  /** Relative import paths, as written in the source. */
  readonly paths: readonly string[];
  /** True if `paths` holds every import. */
  readonly isComplete: boolean;
}

/** Matches `require` in code, but not the verb in a sentence of a comment. */
const REQUIRE = /\b(?:createRequire|require(?![ \t]+(?!as\b|satisfies\b)\p{L}))\b/u;
const PATH = /^\.{1,2}(?:[\\/]|$)/;

async function importsIn(source: string): Promise<Imports> {
  // The lexer finds no imports after a byte order mark.
  const text = source.replace(/^\uFEFF/, '');
  try {
    const { init, parse } = await import('es-module-lexer');
    await init();
    const [imports] = parse(text);
    const paths = imports.map(({ specifier }) => specifier ?? '');
    const isComputed = imports.some((it) => it.type === 'dynamic' && (it.specifier === undefined || it.glob));
    // An import such as `#rules` is mapped to a file by the package.json.
    const isMapped = paths.some((path) => path.startsWith('#'));
    const isComplete = !isComputed && !isMapped && !REQUIRE.test(text);
    return { paths: [...paths.filter((path) => PATH.test(path)), ...urlsIn(text)], isComplete };
  } catch {
    // The lexer fails on JSX, on some CommonJS and on invalid code.
    return { paths: urlsIn(text), isComplete: false };
  }
}

const OWN_URL = /\bnew\s+URL\(\s*(['"`])([^'"`\\\n$]+)\1\s*,\s*import\s*\.\s*meta\b/g;
const ABSOLUTE_OR_FOLDER = /^(?:\/|[a-z][a-z0-9+.-]*:)|[/.]$/i;

/** Returns the files that a module names in `new URL('…', import.meta.url)`. Such a path needs no `./` at its start. */
function urlsIn(text: string): string[] {
  const named = [...text.matchAll(OWN_URL)].map(([, , path = '']) => path);
  const files = named.filter((path) => !ABSOLUTE_OR_FOLDER.test(withoutQuery(path)));
  return files.map((path) => (PATH.test(path) ? path : `./${path}`));
}

function withoutQuery(name: string): string {
  return name.replace(/[?#].*$/s, '');
}

const KINDS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'];
const ENDS = ['', ...KINDS, ...KINDS.map((kind) => `/index${kind}`)];

/**
 * Lists every existing file that an import path can resolve to. Loaders of TypeScript add or replace file extensions.
 */
async function filesAt(name: string, folder: string): Promise<readonly string[]> {
  const places = [resolve(folder, name), resolve(folder, withoutQuery(name))];
  try {
    places.push(fileURLToPath(new URL(name, pathToFileURL(`${folder}/`))));
  } catch {
    // The path is an invalid URL, so its import fails anyway.
  }
  const typed = places.map((place) => place.replace(/\.([cm]?)js(x?)$/, '.$1ts$2'));
  const mains = await Promise.all(places.map(mainsOf));
  const all = new Set([...places, ...typed, ...mains.flat()].flatMap((place) => ENDS.map((end) => place + end)));
  const found = await Promise.all([...all].map((it) => stat(it).catch(() => undefined)));
  return [...all].filter((_it, at) => found[at]?.isFile());
}

/** Lists the package.json of a directory and the files in its `main` and `module`. */
async function mainsOf(folder: string): Promise<readonly string[]> {
  const manifest = join(folder, 'package.json');
  const read = await readBytes(manifest, MOST_BYTES);
  if ('problem' in read) return [];
  try {
    const { main, module } = JSON.parse(read.bytes.toString().replace(/^\uFEFF/, ''));
    const named = [main, module].filter((it) => typeof it === 'string');
    return [manifest, ...named.map((it) => resolve(folder, it))];
  } catch {
    return [manifest];
  }
}
