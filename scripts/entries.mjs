import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Entry
 * @property {string} name the file name in dist, without its ending
 * @property {string} specifier what a user imports
 * @property {string} source the file in src
 */

/**
 * The entries of the package. They are listed in tsconfig.json, since examples and tests import them by name; the build and
 * knip read them here, and a test holds package.json and typedoc.json to the same list.
 * @returns {Entry[]}
 */
export function readEntries() {
  const { compilerOptions } = JSON.parse(readFileSync(new URL('../tsconfig.json', import.meta.url), 'utf8'));
  return Object.entries(compilerOptions.paths).map(([specifier, [source]]) => ({
    name: specifier === 'keelson' ? 'index' : specifier.slice('keelson/'.length),
    specifier,
    source: source.replace('./', ''),
  }));
}
