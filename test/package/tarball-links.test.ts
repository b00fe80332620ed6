import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { brokenLinks } from '../support/docs/links.js';
import { EmptyProject } from '../support/package/empty-project.js';

let project: EmptyProject;
let folder = '';

beforeAll(() => {
  project = new EmptyProject();
  folder = join(project.folder, 'node_modules/keelson');
});
afterAll(() => project[Symbol.dispose]());

function pagesOf(tarball: string) {
  const paths = readdirSync(tarball, { recursive: true }).map((path) => String(path).replaceAll('\\', '/'));
  return paths
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readFileSync(join(tarball, path), 'utf8') }));
}

test('each relative link of a page in the tarball leads to a file and a heading in the tarball', () => {
  const pages = pagesOf(folder);

  expect(pages.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['README.md', 'docs/agent.md', 'docs/decisions/0001-instructions-stay-outside.md']),
  );
  expect(pages.flatMap((page) => brokenLinks(page, folder))).toEqual([]);
});

test('a link out of the tarball is found, also if its target exists', () => {
  const text = '[a](package.json) [b](../../package.json) [c](test/package) [d](docs/../../zod/package.json)';

  expect(brokenLinks({ path: 'README.md', text }, folder)).toEqual([
    'README.md links to ../../package.json',
    'README.md links to test/package',
    'README.md links to docs/../../zod/package.json',
  ]);
});
