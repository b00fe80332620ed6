import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject } from '../../internal/json.js';
import { readJson } from '../../internal/read-json.js';
import { readText } from '../../process/files/file-bytes.js';
import { PluginLoadError } from '../error.js';
import type { PluginEntry } from '../plugin.js';
import { exportedPath } from './package-exports.js';

/** The module that an entry resolves to. */
export interface PluginPlace {
  /** The path of the module file. */
  readonly path: string;
  /**
   * The directory that the entry names, or the directory of the installed package. Undefined if the entry names a file.
   */
  readonly folder?: string | undefined;
  /** The `name` in the package.json of that directory, with the subpath of the entry. */
  readonly packageName?: string | undefined;
  /** True if the entry is a package name and not a path. */
  readonly isInstalled?: boolean | undefined;
}

/**
 * Matches a package name, with an optional scope and an optional subpath without `..`. URLs and relative paths do not
 * match.
 */
const SPECIFIER = /^((?:@[^/\\%:@\p{Cc}]+\/)?[^./\\%:@\p{Cc}][^/\\%:\p{Cc}]*)(?:\/((?!(?:.*\/)?\.{1,2}(?:\/|$)).+))?$/u;
const MOST_BYTES = 1024 * 1024;
const INDEXES = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'].map((end) => `index${end}`);

/**
 * Resolves the module of an entry without running code: the file or directory at its path, relative to `folder`. If the
 * path does not exist, it searches for a package of that name in the `node_modules` of `folder` and its parent
 * directories. Throws a PluginLoadError if nothing is found.
 */
export async function locatePlugin(entry: PluginEntry, folder: string): Promise<PluginPlace> {
  const path = pathOf(entry, folder);
  const kind = await kindOf(path);
  if (kind === 'file') return { path };
  const [, name, subpath] = SPECIFIER.exec(entry.path) ?? [];
  if (kind === 'folder') return locateInFolder(path, '.');
  if (name === undefined) throw new PluginLoadError(path, 'the file does not exist. Correct the `path` of the entry');
  const installed = (await ownPackage(name, folder)) ?? (await installedPackage(name, folder));
  if (installed === undefined) {
    const searched = `\`node_modules\` of ${folder} or a directory above it`;
    const problem = `the file does not exist, and no package "${name}" is in ${searched}. Install the package, or correct the path`;
    throw new PluginLoadError({ path, packageName: entry.path }, problem);
  }
  const wanted = subpath === undefined ? '.' : `./${subpath}`;
  return { ...(await locateInFolder(installed, wanted)), isInstalled: true };
}

/** Returns the path of an entry, which may be a path or a `file:` URL. */
export function pathOf({ path }: PluginEntry, folder: string): string {
  const isUrl = path.startsWith('file:') && URL.canParse(path) && new URL(path).host === '';
  return isUrl ? fileURLToPath(path) : resolve(folder, path);
}

/** Resolves `.`, or a subpath such as `./guard`, in the directory of a package. */
async function locateInFolder(folder: string, wanted: string): Promise<PluginPlace> {
  const manifest = await manifestOf(folder);
  const subpath = wanted.slice(1);
  const packageName = typeof manifest?.name === 'string' && manifest.name !== '' ? manifest.name + subpath : undefined;
  const place = { folder, packageName };
  const fail = (problem: string) => new PluginLoadError({ path: folder, packageName }, problem);
  if (manifest?.exports !== undefined && manifest.exports !== null) {
    const target = exportedPath(manifest.exports, wanted);
    if (typeof target !== 'string')
      throw fail(
        `the \`exports\` of its package.json have no module for \`import\` of "${wanted}". Correct the path of the entry or the package`,
      );
    return { path: await builtFile(join(folder, target), fail), ...place };
  }
  if (wanted !== '.') return { path: await builtFile(join(folder, wanted), fail), ...place };
  const main = typeof manifest?.main === 'string' ? mainsOf(manifest.main) : [];
  const path = await firstFile([...main, ...INDEXES].map((name) => resolve(folder, name)));
  if (path !== undefined) return { path, ...place };
  throw fail(`the directory must have \`exports\`, a \`main\` that exists, or an index file (${INDEXES.join(', ')})`);
}

/** Lists the paths that Node tries for a `main`, in the order of Node. */
function mainsOf(main: string): string[] {
  return ['', '.js', '.json', '.node', '/index.js', '/index.json', '/index.node'].map((end) => main + end);
}

async function builtFile(path: string, fail: (problem: string) => PluginLoadError): Promise<string> {
  if ((await kindOf(path)) === 'file') return path;
  throw fail(
    `the file ${path}, which its package.json or the entry names, does not exist. Build or reinstall the package`,
  );
}

/** Returns the directory of the package that contains `folder`, if its name is `name` and it has `exports`. */
async function ownPackage(name: string, folder: string): Promise<string | undefined> {
  for (const above of upwards(folder)) {
    const manifest = await manifestOf(above);
    if (manifest !== undefined) return manifest.name === name && manifest.exports ? above : undefined;
  }
  return undefined;
}

async function installedPackage(name: string, folder: string): Promise<string | undefined> {
  for (const above of upwards(folder)) {
    const found = join(above, 'node_modules', name);
    if ((await kindOf(found)) === 'folder') return found;
  }
  return undefined;
}

function upwards(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
}

async function firstFile(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) if ((await kindOf(path)) === 'file') return path;
  return undefined;
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return 'file';
  return found?.isDirectory() ? 'folder' : undefined;
}

async function manifestOf(folder: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const path = join(folder, 'package.json');
  if ((await kindOf(path)) === undefined) return undefined;
  const text = await readText(path, MOST_BYTES);
  const read = 'problem' in text ? text : readJson(text.text);
  if ('problem' in read) throw new PluginLoadError(folder, `its package.json cannot be read: ${read.problem}`);
  return isObject(read.value) ? read.value : {};
}
