import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Entry
 * @property {string} name the file name in dist, without extension
 * @property {string} specifier the import path for users
 * @property {string} source the source file in src
 */

/**
 * Returns the entry points of the package. They are listed in tsconfig.json, because examples and tests import them by
 * name. The build and knip read them from there, and a test compares package.json and typedoc.json with that list.
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
