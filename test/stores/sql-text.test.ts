import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromSqlText, toSqlKey, toSqlText } from '../../src/stores/sql-text.js';

const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\\', 'u', '0', '#', '\0', '\ud800', '\udc00', 'a'),
    fc.string({ unit: 'binary', maxLength: 1 }),
  ),
});

test('any string is decoded unchanged, and its column has neither NUL nor lone surrogates', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const encoded = toSqlText(text);
      expect(fromSqlText(encoded)).toBe(text);
      expect(/[\0\p{Cs}]/u.test(encoded)).toBe(false);
    }),
    { numRuns: 1_000 },
  );
});

test('different strings have different keys of at most 600 bytes', () => {
  const long = 'x'.repeat(700);
  const texts = [
    '',
    'a',
    '\\',
    '\\\\',
    '\\#',
    '\\u0000',
    '\0',
    long,
    `${long}y`,
    'é'.repeat(301),
    '\ud800'.repeat(101),
  ];

  const keys = texts.map(toSqlKey);

  expect(new Set(keys).size).toBe(texts.length);
  expect(Math.max(...keys.map((key) => Buffer.byteLength(key)))).toBeLessThanOrEqual(600);
  expect(toSqlKey('harbour/ü 🎉')).toBe('harbour/ü 🎉');
});

test.each([undefined, null, 1, {}])('refuses the id %s', (id) => {
  expect(() => toSqlKey(id as never)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'id' }));
});
