import { expect, test } from 'vitest';
import { exportedPath } from '../../../src/plugins/locate/package-exports.js';

test.each<[exports: unknown, subpath: string, path: string | null | undefined]>([
  ['./a.js', '.', './a.js'],
  ['./a.js', './b', undefined],
  [{ import: './a.mjs', require: './a.cjs' }, '.', './a.mjs'],
  [{ require: './a.cjs', default: './a.js' }, '.', './a.js'],
  [{ require: './a.cjs' }, '.', undefined],
  [{ default: './first.js', import: './a.mjs' }, '.', './first.js'],
  [{ '.': { types: './a.d.ts', node: { import: './n.mjs' }, default: './a.js' } }, '.', './n.mjs'],
  [{ '.': { browser: './b.js', node: { require: './n.cjs' }, default: './a.js' } }, '.', './a.js'],
  [{ '.': { import: { node: null, default: './a.js' }, default: './b.js' } }, '.', null],
  [{ '.': ['not-a-path', { require: './a.cjs' }, './a.js'] }, '.', './a.js'],
  [{ '.': './a.js', './guard': './lib/guard.js' }, './guard', './lib/guard.js'],
  [{ './*': './lib/*.js' }, './a/b', './lib/a/b.js'],
  [{ './*': './lib/*.js', './deep/*': './deep/*/*.js' }, './deep/x', './deep/x/x.js'],
  [{ './*': './lib/*.js', './*.css': null }, './a.css', null],
  [{ './*': './lib/*.js', './internal/*': null }, './internal/x', null],
  [{ './a*a': './lib/*.js' }, './a', undefined],
  [{ './*': './lib/*.js' }, './../../x', null],
  [{ './*': './lib/*.js' }, './%2e%2E/x', null],
  [{ './*': './lib/*.js' }, './node_modules/x', null],
  ['../a.js', '.', null],
  ['./lib/../../a.js', '.', null],
  ['./node_modules/a.js', '.', null],
  ['a.js', '.', null],
  [{ '.': 5 }, '.', undefined],
  [false, '.', undefined],
])('the exports %j map %s to the path %j', (exports, subpath, path) => {
  expect(exportedPath(exports, subpath)).toBe(path);
});
