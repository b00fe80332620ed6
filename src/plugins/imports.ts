import { realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readBytes } from '../process/files/file-bytes.js';
import { isInside } from '../process/files/location.js';
import { PluginUntrustedError } from './error.js';
import { codeIn, folderOf, isCode, MOST_FILES } from './plugin-folder.js';

const MOST_NAMES = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;

/** Where the search for what a plugin consists of begins. */
interface PluginStart {
  readonly path: string;
  readonly workspaceDir: string;
  /** The files and folders that its entry names, absolute. */
  readonly named: readonly string[];
  /** The directory of its package. */
  readonly folder?: string | undefined;
}

/**
 * The files that a plugin consists of: its own, what it imports by literal relative paths, what `named` names, and the
 * code of its package. A file whose imports cannot all be told adds the code of its folder. Throws PluginUntrustedError
 * where that is the workspace.
 */
export async function filesOf({ path, workspaceDir, named, folder: own }: PluginStart): Promise<string[]> {
  const fail = (problem: string) => new PluginUntrustedError(path, problem);
  const ofPackage = own === undefined ? [] : await codeIn(own);
  const found = new Set([path, ...(await filesNamed(named, { workspaceDir, fail })), ...ofPackage]);
  const root = await realpath(workspaceDir);
  const realOf = async (file: string) => resolve(workspaceDir, relative(root, await realpath(file).catch(() => file)));
  const covered = own === undefined ? [] : [own, await realOf(own)];
  const folders = new Set<string>();
  let [names, bytes] = [0, 0];
  for (const file of found) {
    if (found.size > MOST_FILES) throw fail(`it consists of more than ${MOST_FILES} files`);
    if (!isCode(file)) continue;
    const read = await readBytes(file, MOST_BYTES - bytes);
    if ('problem' in read) throw fail(`${file} cannot be read: ${read.problem}`);
    bytes += read.bytes.length;
    const { paths, isComplete } = await importsIn(read.bytes.toString());
    names += paths.length;
    if (names > MOST_NAMES) throw fail(`it names more than ${MOST_NAMES} files`);
    // Some resolve from the folder of a link, others from where it leads. Both are given as paths of the workspace.
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
    `the imports of ${file} cannot all be told (it uses \`require\` or an import such as \`#name\`, computes an import, or is no valid module), and its ` +
    'folder is the workspace itself or lies outside of it. Write each import as a literal, or move the file into a folder ' +
    'of its own. A plugin may also name what it loads in the `files` of its entry.'
  );
}

interface NamedPlace {
  readonly workspaceDir: string;
  readonly fail: (problem: string) => PluginUntrustedError;
}

async function filesNamed(named: readonly string[], { workspaceDir, fail }: NamedPlace): Promise<readonly string[]> {
  const files: string[] = [];
  for (const path of named) {
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) throw fail(`its \`files\` name ${path}, which does not exist`);
    const isFolder = found.isDirectory();
    if (isFolder && (await realpath(path)) === (await realpath(workspaceDir))) {
      throw fail('its `files` name the whole workspace: name the files and folders in it');
    }
    files.push(...(isFolder ? await codeIn(path) : [path]));
  }
  return files;
}

interface Imports {
  /** Relative paths as they are written. */
  readonly paths: readonly string[];
  /** Whether there are no others. */
  readonly isComplete: boolean;
}

/** Matches the word where it may be code, not the verb in a sentence. */
const REQUIRE = /\b(?:createRequire|require(?![ \t]+(?!as\b|satisfies\b)\p{L}))\b/u;
const PATH = /^\.{1,2}(?:[\\/]|$)/;

async function importsIn(source: string): Promise<Imports> {
  // The lexer finds no import behind a byte order mark.
  const text = source.replace(/^\uFEFF/, '');
  try {
    const { init, parse } = await import('es-module-lexer');
    await init();
    const [imports] = parse(text);
    const paths = imports.flatMap((it) =>
      it.type === 'import-meta' ? urlBefore(text, it.start) : [it.specifier ?? ''],
    );
    const isComputed = imports.some((it) => it.type === 'dynamic' && (it.specifier === undefined || it.glob));
    // A package.json says which file an import such as `#rules` means.
    const isMapped = paths.some((path) => path.startsWith('#'));
    const isComplete = !isComputed && !isMapped && !REQUIRE.test(text);
    return { paths: paths.filter((path) => PATH.test(path)), isComplete };
  } catch {
    // It is JSX, CommonJS that is no module, or not valid.
    return { paths: [], isComplete: false };
  }
}

/** The code in `new URL('…', import.meta.url)`. Data does not count: a plugin may write that itself. */
function urlBefore(text: string, end: number): string[] {
  const before = text.slice(Math.max(0, end - 500), end);
  const [, , path = ''] = /\bnew\s+URL\(\s*(['"`])([^'"`\\\n$]+)\1\s*,\s*$/.exec(before) ?? [];
  return isCode(withoutQuery(path)) ? [path] : [];
}

function withoutQuery(name: string): string {
  return name.replace(/[?#].*$/s, '');
}

const KINDS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'];
const ENDS = ['', ...KINDS, ...KINDS.map((kind) => `/index${kind}`)];

/** Every file that an import may mean: an import is a URL, and what runs TypeScript leaves out or replaces its end. */
async function filesAt(name: string, folder: string): Promise<readonly string[]> {
  const places = [resolve(folder, name), resolve(folder, withoutQuery(name))];
  try {
    places.push(fileURLToPath(new URL(name, pathToFileURL(`${folder}/`))));
  } catch {
    // It is no valid URL: the import fails as well.
  }
  const typed = places.map((place) => place.replace(/\.([cm]?)js(x?)$/, '.$1ts$2'));
  const mains = await Promise.all(places.map(mainsOf));
  const all = new Set([...places, ...typed, ...mains.flat()].flatMap((place) => ENDS.map((end) => place + end)));
  const found = await Promise.all([...all].map((it) => stat(it).catch(() => undefined)));
  return [...all].filter((_it, at) => found[at]?.isFile());
}

/** The manifest of a folder, and the files that it may put in the folder's place. */
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
