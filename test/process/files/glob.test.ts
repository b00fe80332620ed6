import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { starTest } from '../../../src/internal/star-pattern.js';
import { compileGlob } from '../../../src/process/files/glob.js';
import { commandTest } from '../../../src/shell-hooks/rule/command-rule.js';
import { pathTest } from '../../../src/shell-hooks/rule/permission-rule.js';
import { takesAtMostMs } from '../../support/process/cpu-time.js';

test.each([
  ['a/b.js', 'a/*.js', true],
  ['a/b/c.js', 'a/*.js', false],
  ['a/b/c.js', 'a/**/*.js', true],
  ['a/c.js', 'a/**/*.js', true],
  ['a/c.js', '**', true],
  ['a/xc.js', 'a/**c.js', true],
  ['a/x/c.js', 'a/**c.js', false],
  ['ab.js', '?b.js', true],
  ['😀b.js', '?b.js', true],
  ['a+(b).js', 'a+(b).*', true],
  ['axb', 'a.b', false],
  ['a'.repeat(255), `${'*a'.repeat(100)}b`, false],
])('the path %s matches the pattern %s: %s', (path, pattern, fits) => {
  expect(compileGlob(pattern)(path)).toBe(fits);
});

test.each([
  ['i.js', '[id].js', true],
  ['[id].js', '[id].js', false],
  ['[id].js', '\\[id].js', true],
  ['😀.js', '[😀-😂].js', true],
])('the path %s matches the pattern %s: %s', (path, pattern, fits) => {
  expect(compileGlob(pattern)(path)).toBe(fits);
});

const letters = (alphabet: string) => fc.string({ unit: fc.constantFrom(...alphabet), maxLength: 8 });

test('a star matches as in a regular expression', () => {
  fc.assert(
    fc.property(letters('ab *'), letters('ab '), (pattern, text) => {
      const source = pattern.replace(/\*+/g, '[\\s\\S]*');

      expect(starTest(pattern)(text)).toBe(new RegExp(`^${source}$`).test(text));
    }),
    { numRuns: 2_000 },
  );
});

test('a pattern of names matches as in a regular expression', () => {
  const step = fc.constantFrom('*', '**', '?', 'a', 'ab', '*a', 'a*b', 'b?', 'a**b', '[!a]', '[ab]*');
  const name = fc.constantFrom('a', 'b', 'ab', 'aab', 'ba');
  const paths = fc.array(name, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 4 }), paths, (steps, path) => {
      const source = steps.map((one) =>
        one === '**'
          ? '(?:[^/]+/)*'
          : `${one.replaceAll('[!', '[^').replace(/\*+/g, '[^/]*').replaceAll('?', '[^/]')}/`,
      );
      const fits = compileGlob(steps.join('/'));
      expect(fits(path.join('/'))).toBe(new RegExp(`^${source.join('')}$`).test(`${path.join('/')}/`));
    }),
    { numRuns: 2_000 },
  );
});

/** Patterns that take exponential or polynomial time when they are matched by backtracking. */
const families: readonly ((n: number) => string)[] = [
  (n) => `${'*a'.repeat(n)}b`,
  (n) => `*${'a'.repeat(20 * n)}b`,
  (n) => `${'a*'.repeat(n)}b*c`,
  (n) => `${'**/a/'.repeat(n)}b`,
  (n) => `${'*/'.repeat(n)}b`,
  (n) => `**/${'*a/'.repeat(n)}**/b`,
  (n) => `${'?'.repeat(n)}*${'?'.repeat(n)}b`,
  (n) => `${'*'.repeat(n)}b`,
  (n) => `*[!b]${'*[a-z]'.repeat(n)}[!a]`,
  (n) => `src/**/*${'{a,aa}'.repeat(n)}`,
];
const texts = [2_048, 65_536].flatMap((length) => ['a', 'a/', 'ab a'].map((word) => word.repeat(length / word.length)));

const pathRule = (test: ReturnType<typeof pathTest>) => test && ((path: string) => test(path, '/work'));

describe('a match takes at most 50 ms of processor time, whatever the pattern and the text are', () => {
  test.each<[string, (pattern: string) => ((text: string) => unknown) | undefined]>([
    ['a name with stars', starTest],
    ['a pattern of files', (pattern) => compileGlob(pattern)],
    ['a path of a permission rule', (pattern) => pathRule(pathTest(pattern))],
    ['a command line of a permission rule', commandTest],
  ])('%s', (_place, compile) => {
    for (const family of families) {
      for (const n of [1, 2, 4, 8, 16, 32, 64]) {
        const fits = compile(family(n));
        for (const text of texts) {
          expect([family(n), text.length, takesAtMostMs(50, () => fits?.(text))]).toEqual([
            family(n),
            text.length,
            true,
          ]);
        }
      }
    }
  });
});
