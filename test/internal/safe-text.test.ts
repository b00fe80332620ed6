import fc from 'fast-check';
import { expect, test } from 'vitest';
import { safeText } from '../../src/internal/safe-text.js';

test('terminal sequences, reordering characters and invisible characters are removed', () => {
  expect(safeText('a\u001b[31mb\u001b]0;title\u0007c\u009b1md\u0000\u202ee\r\n\tf\rg')).toBe('abcde\n\tf\ng');
  expect(safeText('re\u200bad \u{e0069}\u{e0067}\u{e006e}\u2060a\ufeff \u0645\u06cc\u200c\u062e')).toBe(
    'read a \u0645\u06cc\u200c\u062e',
  );
});

test('a shortened string ends with a complete character and says its original length', () => {
  expect(safeText('x'.repeat(5), { maxLength: 3 })).toBe('xxx… (5 characters)');
  expect(safeText('🚢🚢', { maxLength: 3 })).toBe('🚢… (4 characters)');
  expect(safeText('xxx', { maxLength: 3 })).toBe('xxx');
});

test('with `escape`, hidden characters are shown by code point, and the string stays on one line', () => {
  expect(safeText('\u001b[2Ka\nb\u202ec\u{e0100}\u2800\u00a0d', { escape: true })).toBe(
    String.raw`\u{1b}[2Ka\u{a}b\u{202e}c\u{e0100}\u{2800}\u{a0}d`,
  );
  expect(safeText(`ok${' '.repeat(62)}ls`, { escape: true })).toBe('ok (62 blanks) ls');
});

test('no string keeps a character that controls a terminal or reorders text', () => {
  const part = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\u001b[', '\u001b]', '\u009b', '\u0007', '\r', '\u202e', '\u200d', '\ud800', '\ufe0f'),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 30 }), fc.boolean(), (parts, escaped) => {
      const safe = safeText(parts.join(''), { escape: escaped });

      expect(safe).not.toMatch(escaped ? /[\p{Cc}\p{Cf}\p{Cs}]/u : /(?![\n\t])\p{Cc}|(?![\u200c\u200d])\p{Cf}|\p{Cs}/u);
    }),
  );
});
