import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readPage, readPages, root, rowsOf } from '../support/docs/doc-files.js';

const FOLDER = 'docs/decisions';
const records = readdirSync(`${root}${FOLDER}`).filter((name) => name !== 'README.md');
const rows = rowsOf(readPage(`${FOLDER}/README.md`)).filter(([record]) => record?.startsWith('['));

/** The records that a text names by their file. */
function recordsIn(text: string): string[] {
  return [...text.matchAll(/\bdecisions\/(\d{4}-[\w-]+\.md)/g)].map(([, name = '']) => name);
}

/** All files that may link to a record, except the records and their index. */
const sources = [
  ...['src', 'bench', 'examples', 'scripts', 'test'].flatMap((folder) =>
    readdirSync(root + folder, { recursive: true })
      .map((path) => `${folder}/${path}`)
      .filter((path) => /\.(ts|mjs)$/.test(path) && !/\/(fixtures|node_modules)\//.test(path)),
  ),
  ...['tsup.config.ts', 'CONTRIBUTING.md', 'bench/README.md'],
  ...readPages().flatMap(({ path }) => (path.startsWith(`${FOLDER}/`) ? [] : path)),
].map((path) => ({ path, named: recordsIn(readFileSync(root + path, 'utf8')) }));

test('the index lists every record once', () => {
  const listed = rows.map(([record = '']) => /\]\(([^)]+)\)$/.exec(record)?.[1]);

  expect(records.length).toBeGreaterThan(0);
  expect(listed.sort()).toEqual(records.sort());
});

test('the index has the title of each record', () => {
  const titles = rows.map(([record = '']) => /^\[(.*)\]\(/.exec(record)?.[1]);

  expect(titles.sort()).toEqual(
    records.map((name) => readPage(`${FOLDER}/${name}`).split('\n', 1)[0]?.slice(2)).sort(),
  );
});

test('each place of the index links to its record', () => {
  const named = new Map(sources.map((source) => [source.path, source.named]));
  const silent = rows.filter(([record = '', , place = '']) => {
    const path = /`(.+)`/.exec(place)?.[1] ?? place.replace(/^.*\(\.\.\/(.+)\)$/, 'docs/$1');
    return !named.get(path)?.some((name) => record.endsWith(`(${name})`));
  });

  expect(silent).toEqual([]);
});

test('src or a page links to every record', () => {
  const linked = new Set(sources.flatMap(({ path, named }) => (/^(src|docs)\//.test(path) ? named : [])));

  expect(records.filter((name) => !linked.has(name))).toEqual([]);
});

test('every link to a record leads to a record', () => {
  const lost = sources.flatMap(({ path, named }) =>
    named.filter((name) => !existsSync(`${root}${FOLDER}/${name}`)).map((name) => `${path} links to ${name}`),
  );

  expect(lost).toEqual([]);
});
