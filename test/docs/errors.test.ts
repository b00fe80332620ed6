import { expect, test } from 'vitest';
import { readEntries } from '../../scripts/entries.mjs';
import { readSources, type SourceFile } from '../support/architecture/source-file.js';
import { readPage, rowsOf } from '../support/docs/doc-files.js';

/** Returns the error classes of the sources with their codes, as `Class ERR_CODE`. */
function codesIn(files: readonly SourceFile[]): string[] {
  return files.flatMap(({ text }) =>
    [...text.matchAll(/^(?:export )?class (\w+) [^{]*\{\s*readonly code = '(ERR_\w+)'/gm)].map(
      ([, name, code]) => `${name} ${code}`,
    ),
  );
}

function codesInTables(page: string): string[] {
  return rowsOf(page).flatMap(([name = '', code = '']) => {
    const found = /^`(ERR_\w+)`$/.exec(code);
    return found ? [`${name.replaceAll('`', '')} ${found[1]}`] : [];
  });
}

const sources = readSources();
const page = readPage('docs/errors.md');

test('the tables in errors.md list exactly the error classes that have a code', () => {
  expect(codesInTables(page).sort()).toEqual(codesIn(sources).sort());
});

test('errors.md shows exactly the exported classes in code font', async () => {
  const modules = await Promise.all(
    readEntries().map(({ source }) => import(new URL(`../../${source}`, import.meta.url).href)),
  );
  const exported = new Set(modules.flatMap((module) => Object.keys(module)));
  const listed = rowsOf(page)
    .filter(([, code = '']) => code.startsWith('`ERR_'))
    .map(([name = '']) => name);

  expect(listed.filter((name) => name.startsWith('`') !== exported.has(name.replaceAll('`', '')))).toEqual([]);
});

test('each row of errors.md says when the error is thrown and what to do', () => {
  const rows = rowsOf(page).filter(([, code = '']) => code.startsWith('`ERR_'));

  expect(rows.filter((row) => row.length !== 4 || row.includes(''))).toEqual([]);
});

test('each code belongs to one class, and codesIn finds every code', () => {
  const codes = codesIn(sources).map((entry) => entry.split(' ')[1]);
  const written = sources.flatMap(({ text }) =>
    [...text.matchAll(/readonly code = '(ERR_\w+)'/g)].map(([, code]) => code),
  );

  expect(new Set(codes).size).toBe(codes.length);
  expect(codes).toEqual(written);
});

test('every error class extends KeelsonError', () => {
  const bases = new Map(
    sources.flatMap(({ text }) =>
      [...text.matchAll(/^(?:export )?(?:abstract )?class (\w+) extends (\w+)/gm)].map(
        ([, name = '', base = '']) => [name, base] as const,
      ),
    ),
  );
  const rootOf = (name: string): string =>
    bases.has(name) && name !== 'KeelsonError' ? rootOf(bases.get(name) ?? '') : name;
  const classes = codesIn(sources).map((entry) => entry.split(' ')[0] ?? '');

  expect(classes.filter((name) => rootOf(name) !== 'KeelsonError')).toEqual([]);
});

test('a class that is missing in the table is found', () => {
  const planted = {
    path: 'a.ts',
    text: "export class NewError extends KeelsonError {\n  readonly code = 'ERR_NEW';\n}\n",
  };

  expect(codesIn([planted])).toEqual(['NewError ERR_NEW']);
  expect(codesInTables('| `NewError` | `ERR_NEW` | now | wait |\n| class | code | when | what |')).toEqual([
    'NewError ERR_NEW',
  ]);
});
