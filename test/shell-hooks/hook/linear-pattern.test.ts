import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { LinearPattern, patternsReady } from '../../../src/shell-hooks/hook/linear-pattern.js';
import { takesAtMostMs } from '../../support/process/cpu-time.js';

beforeAll(async () => {
  new LinearPattern('a');
  await patternsReady();
});

const letter = fc.constantFrom('a', 'b', '_', 'A', '1', '-');
const atom = fc.oneof(
  letter,
  fc.constantFrom('.', '[a-b]', '[^a]', '[^]', '[]', '[\\w-]', '[A\\]]', '(?:a|b)', '(a)', '(?:)', '^', '$'),
  fc.constantFrom(
    '\\w',
    '\\W',
    '\\d',
    '\\s',
    '\\b',
    '\\B',
    '\\-',
    '\\/',
    '\\.',
    '\\_',
    '\\x61',
    '\\u0061',
    '\\t',
    '\\\\',
  ),
);
const piece = fc
  .tuple(atom, fc.constantFrom('', '*', '+', '?', '{0,2}', '+?'))
  .map(([one, count]) => (/^(?:[\^$]|\\[bB])$/.test(one) ? one : one + count));
const pattern = fc
  .array(fc.array(piece, { maxLength: 5 }), { minLength: 1, maxLength: 3 })
  .map((branches) => branches.map((pieces) => pieces.join('')).join('|'));

test('any pattern without look-around and back-references matches as in JavaScript', () => {
  fc.assert(
    fc.property(pattern, fc.string({ unit: letter, maxLength: 12 }), (source, text) => {
      expect([source, text, new LinearPattern(source).test(text)]).toEqual([
        source,
        text,
        new RegExp(source).test(text),
      ]);
    }),
    { numRuns: 500 },
  );
});

test.each([
  'a(?=b)',
  '(?!a)b',
  '(?<=a)b',
  '(?<!a)b',
  '(a)\\1',
  '(?<n>a)\\k<n>',
  '\\Aa',
  'a\\z',
  '\\p{L}',
  '\\u{2}',
  '\\cA',
  '[[:alpha:]]',
  `a{2000}`,
  'a'.repeat(1_001),
])('the pattern %s is in doubt and matches everything', (source) => {
  const found = new LinearPattern(source);

  expect(found.unsupported).toEqual(expect.any(String));
  expect(found.test('anything')).toBe(true);
});

test('an invalid pattern is refused', () => {
  expect(() => new LinearPattern('(a')).toThrow(SyntaxError);
});

/** Patterns that take exponential or polynomial time when they are matched by backtracking. */
const families: readonly ((n: number) => string)[] = [
  (n) => `^(mcp__|mcp_|_|[a-z]+)+${n}$`,
  (n) => `^(a+)+b{${n}}$`,
  (n) => `^(a|a)*b{${n}}$`,
  (n) => `^(a*)*b{${n}}$`,
  (n) => `(x+x+)+y{${n}}`,
  (n) => `^(.*a){${n}}$`,
  (n) => `^${'.*'.repeat(n)}!$`,
  (n) => `${'a?'.repeat(n)}${'a'.repeat(n)}b`,
  (n) => `^(([a-z])+.)+[A-Z]{${n}}$`,
  (n) => `^([a-z]{0,${n}}){${n}}$`,
];

describe('a match takes at most 50 ms of processor time', () => {
  // A long text is in doubt for most patterns, so that the engine tests the short ones.
  const texts = [32, 2_048, 16_384, 65_536].flatMap((length) =>
    ['a', 'mcp_', 'x', 'aB'].map((word) => `${word.repeat(length / word.length)}!`),
  );
  test.each(families.map((family, at) => [at, family] as const))('with patterns of family %i', (_at, family) => {
    for (let n = 1; n <= 50; n += 1) {
      const found = new LinearPattern(family(n));
      for (const text of texts)
        expect([family(n), text.length, takesAtMostMs(50, () => found.test(text))]).toEqual([
          family(n),
          text.length,
          true,
        ]);
    }
  });
});
