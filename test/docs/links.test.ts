import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Page, readPage, readPages, root } from '../support/docs/doc-files.js';
import { brokenLinks } from '../support/docs/links.js';

const pages: Page[] = [
  ...readPages(),
  ...['CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'].map((path) => ({ path, text: readPage(path) })),
];

/** Paths of the sources that a page names in passing. */
function missingPaths({ path, text }: Page): string[] {
  const own = text.replace(/https?:\/\/[^\s)>]+/g, '');
  const named = [...own.matchAll(/\b(?:src|test|examples|bench|docs|scripts)\/[\w./-]*\w/g)].map(([found]) => found);
  return named
    .filter((found) => found !== 'docs/api' && !existsSync(root + found))
    .map((found) => `${path} names ${found}`);
}

test('every link between the pages leads somewhere', () => {
  expect(pages.flatMap((page) => brokenLinks(page))).toEqual([]);
});

test('every file path in the text of a page exists', () => {
  expect(readPages().flatMap(missingPaths)).toEqual([]);
});

test('S4-NFR3.3, S4-SUM.S: the README links to the architecture guide, which explains the hooks', () => {
  expect(readPage('README.md')).toContain('](docs/architecture.md)');
  expect(readPage('docs/architecture.md')).toContain('## How hooks are compiled');
});

test.each([
  ['From run to answer', 17],
  ['From a session to its record', 7],
  ['An MCP call', 11],
])('the steps in the picture of "%s" are functions or public methods of the named files', (heading, count) => {
  const section = readPage('docs/architecture.md').split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const steps = [...section.matchAll(/^ +(?:\w+\.)?(\w+) .* (src\/\S+\.ts)$/gm)];
  const strays = steps.filter(
    ([, name, file]) => !new RegExp(`^(export .*\\b${name}\\b|  ${name}\\()`, 'm').test(readPage(file ?? '')),
  );

  expect(steps).toHaveLength(count);
  expect(strays.map(([line]) => line)).toEqual([]);
});

test('S4-NFR3.4: the README has a section about migration', () => {
  expect(readPage('README.md')).toMatch(/## Migration\n\nNot needed/);
});

test('a link or a path without a target is found', () => {
  const text = '[a](missing.md) [b](README.md#no-such-heading) [c](README.md#install) `src/missing.ts` `src/agent`';

  expect(brokenLinks({ path: 'a.md', text })).toEqual([
    'a.md links to missing.md',
    'a.md links to README.md#no-such-heading',
  ]);
  expect(missingPaths({ path: 'a.md', text })).toEqual(['a.md names src/missing.ts']);
});
