import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readEntries } from './entries.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const EXPORTS = /^export \{([^}]*)\}/gm;

/**
 * Builds the package into `dist`.
 * @param {readonly string[]} options of tsup
 */
export function build(...options) {
  const tsup = ['node_modules/tsup/dist/cli-default.js', ...options];
  execFileSync(process.execPath, tsup, { cwd: root, stdio: 'inherit' });
  rmSync(`${root}dist/declarations`, { recursive: true });
  for (const { name } of readEntries()) {
    const values = exportedNames(readFileSync(`${root}dist/${name}.js`, 'utf8'));
    for (const ending of ['d.ts', 'd.cts']) {
      const path = `${root}dist/${name}.${ending}`;
      writeFileSync(path, markTypes(readFileSync(path, 'utf8'), values));
    }
  }
  changeFiles(/\.d\.c?ts$/, (text) => withLibrary(withoutNeeds(text)));
  changeFiles(/\.cjs$/, withRequireInTry);
}

/**
 * @param {RegExp} names
 * @param {(text: string) => string} change
 */
function changeFiles(names, change) {
  for (const name of readdirSync(`${root}dist`).filter((file) => names.test(file))) {
    const path = `${root}dist/${name}`;
    writeFileSync(path, change(readFileSync(path, 'utf8')));
  }
}

/**
 * Moves each `require` of `await import(…)` out of the callback that tsup makes. A bundler accepts that an optional
 * package is missing if its `require` stands in a `try` block, but not in a function inside.
 * @param {string} code
 */
function withRequireInTry(code) {
  return code.replace(/await Promise\.resolve\(\)\.then\(\(\) => (\w+\(require\("[^"]+"\)\))\)/g, 'await $1');
}

/**
 * Removes imports without names from declaration files: the declaration bundler leaves them behind, and users would
 * have to install those packages. Lets imports of optional packages fail silently; their types are then `any`.
 * @param {string} declarations
 */
function withoutNeeds(declarations) {
  return declarations
    .replace(/^import '[^']+';\n/gm, '')
    .replace(/^import .* from '@modelcontextprotocol\//gm, '// @ts-ignore: an optional package\n$&');
}

/**
 * Adds `type` to each export that exists as a type only. The declaration bundler drops the keyword, so that using such
 * a class as a value would compile and fail at run time.
 * @param {string} declarations
 * @param {ReadonlySet<string>} values
 */
function markTypes(declarations, values) {
  return declarations.replace(EXPORTS, (whole, list) =>
    whole.replace(
      list,
      list.replace(/[^\s,][^,]*[^\s,]|[^\s,]/g, (/** @type {string} */ item) =>
        item.startsWith('type ') || values.has(nameOf(item)) ? item : `type ${item}`,
      ),
    ),
  );
}

/**
 * Adds a reference to the TypeScript library that declares `Symbol.asyncDispose`, for users whose `lib` is older.
 * @param {string} declarations
 */
function withLibrary(declarations) {
  return /Symbol\.(asyncD|d)ispose/.test(declarations)
    ? `/// <reference lib="esnext.disposable" />\n${declarations}`
    : declarations;
}

/** @param {string} code */
function exportedNames(code) {
  const lists = [...code.matchAll(EXPORTS)].flatMap(([, list = '']) => list.split(','));
  return new Set(lists.map((item) => nameOf(item.trim())));
}

/** @param {string} item such as `A as Agent` */
function nameOf(item) {
  return item.split(' as ').at(-1) ?? item;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) build();
