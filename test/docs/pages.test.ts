import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, readPages, root } from '../support/docs/doc-files.js';

const guides = readPages().filter(({ path, text }) => /^docs\/[^/]+\.md$/.test(path) && text.includes('```ts'));

test('most guides begin with a program', () => {
  expect(guides.length).toBeGreaterThan(25);
});

test.each(guides.map(({ path }) => path))('%s begins with a whole program of examples/pages', (path) => {
  const [guide] = guides.filter((page) => page.path === path);
  const [first] = blocksOf({ path, text: guide?.text ?? '' }).filter(({ language }) => language === 'ts');
  const program = `${root}examples/pages/${basename(path, '.md')}.ts`;

  expect(existsSync(program)).toBe(true);
  expect(first?.code).toBe(readFileSync(program, 'utf8').trim());
});
