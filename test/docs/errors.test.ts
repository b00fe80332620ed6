import { expect, test } from 'vitest';
import { readSources, type SourceFile } from '../support/architecture/source-file.js';
import { readPage, rowsOf } from '../support/docs/doc-files.js';

/** The error classes of the sources that have a code of their own, as `Class ERR_CODE`. */
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

test('the tables of errors hold every class that has a code, and no other', () => {
  expect(codesInTables(page).sort()).toEqual(codesIn(sources).sort());
});

test('each row says when, and what to do', () => {
  const rows = rowsOf(page).filter(([, code = '']) => code.startsWith('`ERR_'));

  expect(rows.filter((row) => row.length !== 4 || row.includes(''))).toEqual([]);
});

test('no code stands for two classes, and none escapes the search', () => {
  const codes = codesIn(sources).map((entry) => entry.split(' ')[1]);
  const written = sources.flatMap(({ text }) =>
    [...text.matchAll(/readonly code = '(ERR_\w+)'/g)].map(([, code]) => code),
  );

  expect(new Set(codes).size).toBe(codes.length);
  expect(codes).toEqual(written);
});

test('a class that the table lacks is found', () => {
  const planted = {
    path: 'a.ts',
    text: "export class NewError extends KeelsonError {\n  readonly code = 'ERR_NEW';\n}\n",
  };

  expect(codesIn([planted])).toEqual(['NewError ERR_NEW']);
  expect(codesInTables('| `NewError` | `ERR_NEW` | now | wait |\n| class | code | when | what |')).toEqual([
    'NewError ERR_NEW',
  ]);
});
