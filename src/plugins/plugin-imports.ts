import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { PluginUntrustedError } from './plugin-error.js';

const MOST_FILES = 1_000;

/**
 * A file and all that it imports by a relative path, as far as its text tells. Code that it names in another way counts
 * too, such as in `new URL('./worker.mjs', import.meta.url)`; data does not, since it may write that itself.
 */
export async function filesOf(path: string, workspaceDir: string): Promise<string[]> {
  const found = new Set([path]);
  const root = await realpath(workspaceDir);
  for (const file of found) {
    if (found.size > MOST_FILES) throw new PluginUntrustedError(path, `it imports more than ${MOST_FILES} files`);
    if (!/\.[cm]?[jt]sx?$/.test(file)) continue;
    const text = await readFile(file, 'utf8').catch(() => '');
    // Some look from where a link is, others from where it leads: told below the workspace as it was given.
    const real = resolve(workspaceDir, relative(root, await realpath(file).catch(() => file)));
    const folders = [...new Set([dirname(file), dirname(real)])];
    for (const [named, isImport] of namesIn(text)) {
      const files = await Promise.all(folders.map((folder) => filesAt(resolve(folder, named))));
      for (const it of files.flat()) if (isImport || !it.endsWith('.json')) found.add(it);
    }
  }
  return [...found];
}

const NAME =
  /\b(from|import|require|resolve|URL|Worker|fork)\s*(?:(?:\(|\/\*[^*]{0,500}\*\/)\s*){0,20}(['"`])(\.{1,2}(?:\/[^'"`\n]{0,500})?)\2/g;

/** The relative paths in a text, each with whether it is imported. */
function namesIn(text: string): Map<string, boolean> {
  const names = new Map<string, boolean>();
  for (const [, by = '', , name = ''] of text.matchAll(NAME)) {
    const path = name.replace(/[?#].*$/, '');
    for (const it of [path, decoded(path)]) names.set(it, /from|import|require/.test(by) || names.get(it) === true);
  }
  return names;
}

/** An import takes a URL, `require` a path. */
function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const KINDS = ['.ts', '.mts', '.cts', '.tsx', '.js', '.mjs', '.cjs', '.jsx', '.json'];
const ENDS = ['', ...KINDS, ...KINDS.map((kind) => `/index${kind}`)];

/** Every file that a path may mean: which of them it is depends on who imports it. */
async function filesAt(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() !== true) return filesNamed(path);
  const manifest = join(path, 'package.json');
  const text = await readFile(manifest, 'utf8').catch(() => undefined);
  if (text === undefined) return filesNamed(path);
  const named = await Promise.all(mainsOf(text).map((main) => filesNamed(resolve(path, main))));
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
