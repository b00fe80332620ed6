import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isObject } from '../../internal/json.js';
import { readJson } from '../../internal/read-json.js';
import { readText } from '../../process/files/file-bytes.js';
import { pathOf } from '../entry.js';
import { PluginLoadError } from '../error.js';
import type { PluginEntry } from '../plugin.js';
import { exportedPath } from './package-exports.js';

/** The module of an entry. */
export interface PluginPlace {
  /** The file that is imported. */
  readonly path: string;
  /** The directory of the package, or the one that the entry names. Undefined if the entry names a file. */
  readonly folder?: string | undefined;
  /** The name in the package.json of that directory, with the subpath of the entry. */
  readonly packageName?: string | undefined;
  /** True if the package was found by its name. */
  readonly isInstalled?: boolean | undefined;
}

/** A package name, with a scope or not, and a subpath that does not lead upwards. Neither a URL nor a relative path. */
const SPECIFIER = /^((?:@[^/\\%:@\p{Cc}]+\/)?[^./\\%:@\p{Cc}][^/\\%:\p{Cc}]*)(?:\/((?!(?:.*\/)?\.{1,2}(?:\/|$)).+))?$/u;
const MOST_BYTES = 1024 * 1024;
const INDEXES = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts'].map((end) => `index${end}`);

/**
 * Finds the module of an entry, without running anything: the file or directory at its path, relative to `folder`; else
 * the package of that name in the `node_modules` of `folder` and of the directories above it. Throws PluginLoadError.
 */
export async function locatePlugin(entry: PluginEntry, folder: string): Promise<PluginPlace> {
  const path = pathOf(entry, folder);
  const kind = await kindOf(path);
  if (kind === 'file') return { path };
  const [, name, subpath] = SPECIFIER.exec(entry.path) ?? [];
  if (kind === 'folder') return locateInFolder(path, { wanted: '.' });
  if (name === undefined) throw new PluginLoadError(path, 'there is no such file');
  const installed = (await ownPackage(name, folder)) ?? (await installedPackage(name, folder));
  if (installed === undefined) {
    const searched = `\`node_modules\` of ${folder} or a directory above it`;
    const problem = `there is no such file, and no package "${name}" in ${searched}. Install it, or correct the path`;
    throw new PluginLoadError({ path, packageName: entry.path }, problem);
  }
  const wanted = subpath === undefined ? '.' : `./${subpath}`;
  return { ...(await locateInFolder(installed, { wanted })), isInstalled: true };
}

interface Wanted {
  /** `.` or a subpath such as `./guard`. */
  readonly wanted: string;
}

async function locateInFolder(folder: string, { wanted }: Wanted): Promise<PluginPlace> {
  const manifest = await manifestOf(folder);
  const subpath = wanted.slice(1);
  const packageName = typeof manifest?.name === 'string' && manifest.name !== '' ? manifest.name + subpath : undefined;
  const place = { folder, packageName };
  const fail = (problem: string) => new PluginLoadError({ path: folder, packageName }, problem);
  if (manifest?.exports !== undefined && manifest.exports !== null) {
    const target = exportedPath(manifest.exports, wanted);
    if (typeof target !== 'string')
      throw fail(`the \`exports\` of its package.json give no module for \`import\` of "${wanted}"`);
    return { path: await builtFile(join(folder, target), fail), ...place };
  }
  if (wanted !== '.') return { path: await builtFile(join(folder, wanted), fail), ...place };
  const main = typeof manifest?.main === 'string' ? mainsOf(manifest.main) : [];
  const path = await firstFile([...main, ...INDEXES].map((name) => resolve(folder, name)));
  if (path !== undefined) return { path, ...place };
  throw fail(`it is a directory without \`exports\`, a \`main\` that exists, or an index file (${INDEXES.join(', ')})`);
}

/** The files that a `main` may mean, in the order of Node. */
function mainsOf(main: string): string[] {
  return ['', '.js', '.json', '.node', '/index.js', '/index.json', '/index.node'].map((end) => main + end);
}

async function builtFile(path: string, fail: (problem: string) => PluginLoadError): Promise<string> {
  if ((await kindOf(path)) === 'file') return path;
  throw fail(`there is no file ${path}, which its package.json or the entry names. Build or reinstall the package`);
}

/** The package that `folder` is part of, if it has this name and `exports`. */
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

/** The package.json of a directory. Undefined if there is none. */
async function manifestOf(folder: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const path = join(folder, 'package.json');
  if ((await kindOf(path)) === undefined) return undefined;
  const text = await readText(path, MOST_BYTES);
  const read = 'problem' in text ? text : readJson(text.text);
  if ('problem' in read) throw new PluginLoadError(folder, `its package.json cannot be read: ${read.problem}`);
  return isObject(read.value) ? read.value : {};
}
