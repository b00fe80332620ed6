import { realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { readBytes } from '../process/files/file-bytes.js';
import { PluginUntrustedError } from './error.js';

const MOST_FILES = 1_000;
const MOST_NAMES = 10_000;
const MOST_BYTES = 16 * 1024 * 1024;

/**
 * A file and all that it imports by a relative path, as far as its text tells. Code that it names in another way counts
 * too, such as in `new URL('./worker.mjs', import.meta.url)`; data does not, since it may write that itself.
 */
export async function filesOf(path: string, workspaceDir: string, isConfig: boolean): Promise<string[]> {
  const found = new Set([path]);
  const root = await realpath(workspaceDir);
  let names = 0;
  let bytes = 0;
  for (const file of found) {
    if (found.size > MOST_FILES) throw new PluginUntrustedError(path, `it imports more than ${MOST_FILES} files`);
    if (!/\.[cm]?[jt]sx?$/.test(file)) continue;
    const read = await readBytes(file, MOST_BYTES - bytes);
    if ('problem' in read) throw new PluginUntrustedError(path, `${file} cannot be looked through: ${read.problem}`);
    bytes += read.bytes.length;
    // Some look from where a link is, others from where it leads: told below the workspace as it was given.
    const real = resolve(workspaceDir, relative(root, await realpath(file).catch(() => file)));
    const folders = [...new Set([dirname(file), dirname(real)])];
    const named = namesIn(read.bytes.toString(), isConfig);
    names += named.size;
    if (names > MOST_NAMES) throw new PluginUntrustedError(path, `it names more than ${MOST_NAMES} files`);
    for (const [name, isImport] of named) {
      const places = new Set(folders.flatMap((folder) => placesOf(name, folder)));
      const files = await Promise.all([...places].map(filesAt));
      for (const it of files.flat()) if (isImport || !it.endsWith('.json')) found.add(it);
    }
  }
  return [...found];
}

/** A relative path that is imported, that stands first in a call (comments may stand before it), as a `path`, or anywhere else. */
const NAME =
  /(?:(?:\b(from|import|require)|([\w$)\]]))\s*(?:(?:\(|\/\*(?:[^*/]|\*(?!\/)|\/(?!\*)){0,1000}\*\/|\/\/[^\n]{0,200}\n)\s*){0,20}|(\bpath['"]?\s{0,20}:\s{0,20})?)(['"`])([.\\](?:\\[\s\S]|(?!\4)[^\\\n]){0,500})\4/g;
const PATH = /^\.{1,2}(?:[\\/]|$)/;
/** No code, but the place where something is. */
const FOLDER = /(?:^|\/)\.{0,2}$/;
const CODE = /\.(?:[cm]?[jt]sx?|wasm|node)$/;

/** The relative paths in a text, each with whether it is imported. The entries of a configuration are judged by themselves. */
function namesIn(text: string, isConfig: boolean): Map<string, boolean> {
  const names = new Map<string, boolean>();
  for (const [, by, before, entry, , written = ''] of text.matchAll(NAME)) {
    const name = unescaped(written);
    if (!PATH.test(name)) continue;
    const isImport = by !== undefined;
    const path = withoutQuery(name).trim();
    const isOther = !isImport && before === undefined;
    if (isOther && (!CODE.test(path) || (isConfig && entry !== undefined))) continue;
    if (!isImport && FOLDER.test(path)) continue;
    names.set(name, isImport || names.get(name) === true);
  }
  return names;
}

const NAMED_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** As the language reads a text in quotes. */
function unescaped(written: string): string {
  const escapes = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]+)\}|([0-3]?[0-7]{1,2})|\r\n|([\s\S]))/g;
  return written.replace(escapes, (...[, x, u, point, octal, other = '']: string[]) => {
    const code = octal === undefined ? Number.parseInt(x ?? u ?? point ?? '', 16) : Number.parseInt(octal, 8);
    if (code <= 0x10_ff_ff) return String.fromCodePoint(code);
    return NAMED_ESCAPES[other] ?? other.replace(/[\n\r\u2028\u2029]/, '');
  });
}

function withoutQuery(name: string): string {
  return name.replace(/[?#].*$/s, '');
}

/** An import takes a URL, in which a tab counts for nothing and a backslash for a slash; `require` takes a path. */
function placesOf(name: string, folder: string): string[] {
  const places = [resolve(folder, name), resolve(folder, withoutQuery(name))];
  try {
    places.push(fileURLToPath(new URL(name, pathToFileURL(`${folder}/`))));
  } catch {}
  return places;
}

const KINDS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'];
const ENDS = ['', ...KINDS, ...KINDS.map((kind) => `/index${kind}`)];

/** Every file that a path may mean: which of them it is depends on who imports it. */
async function filesAt(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) return filesNamed(path);
  const manifest = join(path, 'package.json');
  const read = await readBytes(manifest, MOST_BYTES);
  if ('problem' in read) return filesNamed(path);
  const named = await Promise.all(mainsOf(read.bytes.toString()).map((main) => filesNamed(resolve(path, main))));
  return [...(await filesNamed(path)), manifest, ...named.flat()];
}

/** The files that a manifest may put in the place of its folder. */
function mainsOf(manifest: string): readonly string[] {
  try {
    const { main, module } = JSON.parse(manifest.replace(/^\uFEFF/, ''));
    return [main, module].filter((it) => typeof it === 'string');
  } catch {
    return [];
  }
}

/** The files with that path, whatever end it leaves out. */
async function filesNamed(path: string): Promise<string[]> {
  const typed = path.replace(/\.([cm]?)js(x?)$/, '.$1ts$2');
  const candidates = new Set([...ENDS.map((end) => path + end), typed]);
  const found = await Promise.all([...candidates].map((candidate) => stat(candidate).catch(() => undefined)));
  return [...candidates].filter((_candidate, at) => found[at]?.isFile());
}
