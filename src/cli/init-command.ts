import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { safeText } from '../internal/safe-text.js';
import { hasCode } from '../process/files/error-code.js';
import type { Command } from './command.js';

/** The folders of the examples that `keelson init` copies. */
const TEMPLATES: ReadonlyMap<string, string> = new Map([
  ['web-chat', 'web'],
  ['terminal', 'terminal'],
  ['lifecycle', 'lifecycle'],
]);

/** Files that are not copied: using the example creates them, or they belong to this repository. */
const LEFT_OUT = new Set(['node_modules', 'dist', 'sessions', 'screenshots', 'trace-page', 'package-lock.json']);

/** `keelson init <template> [folder]` copies a template into an empty folder. */
export const initCommand: Command = {
  usage: 'init <web-chat | terminal | lifecycle> [folder]',
  summary:
    'Starts a project in an empty folder, by default in the current one: a chat on a web page, a chat in the terminal, or a lifecycle with its tests. Installs nothing.',
  async run([name = '', folder = '.', ...rest]) {
    const template = TEMPLATES.get(name);
    if (template === undefined || rest.length > 0) return 'usage';
    const problem = await problemOf(folder);
    if (problem !== undefined) {
      process.stderr.write(`The folder "${safeText(folder)}" ${problem}\n`);
      return 1;
    }
    await copy(template, resolve(folder));
    const enter = resolve(folder) === process.cwd() ? '' : `  cd ${safeText(folder)}\n`;
    process.stdout.write(`Started a project. Next:\n\n${enter}  npm install\n  npm start\n\nREADME.md says more.\n`);
    return 0;
  },
};

/**
 * Returns the reason why a project cannot be started in a folder. Returns undefined for an empty or a missing folder.
 */
async function problemOf(folder: string): Promise<string | undefined> {
  const inside = relative('.', folder);
  if (isAbsolute(inside) || inside.split(/[\\/]/)[0] === '..') {
    return 'is outside of the current directory. Go to its parent directory, and pass its name.';
  }
  try {
    const files = await readdir(folder);
    return files.length > 0 ? 'is not empty. Pass the name of a new folder.' : undefined;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    if (hasCode(error, 'ENOTDIR')) return 'is a file, or inside of one. Pass the name of a new folder.';
    throw error;
  }
}

async function copy(template: string, folder: string): Promise<void> {
  const home = fileURLToPath(new URL('..', import.meta.url));
  const source = join(home, 'examples', template);
  await mkdir(folder, { recursive: true });
  await cp(source, folder, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
  const [own, { version }] = await Promise.all([
    readJson(join(source, 'package.json')),
    readJson(join(home, 'package.json')),
  ]);
  const dependencies = { keelson: `^${version}`, ...own.dependencies };
  const manifest = { name: basename(folder).toLowerCase(), ...own, dependencies };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeFile(join(folder, '.gitignore'), 'node_modules\ndist\nsessions\nscreenshots\n');
  const readme = await readFile(join(source, 'README.md'), 'utf8');
  await writeFile(join(folder, 'README.md'), readme.replaceAll('](../../docs/', '](node_modules/keelson/docs/'));
}

async function readJson(path: string) {
  return JSON.parse(await readFile(path, 'utf8')) as {
    readonly version: string;
    readonly dependencies?: Readonly<Record<string, string>>;
  };
}
