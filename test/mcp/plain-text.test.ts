import { expect, test } from 'vitest';
import { plainText } from '../../src/mcp/plain-text.js';

test('what steers a terminal, turns the text around or cannot be seen is taken out of it', () => {
  expect(plainText('a\u001b[31mb\u001b]0;title\u0007c\u0000\u202ed\r\n\te', 100)).toBe('abcd\n\te');
  expect(plainText('re\u200bad \u{e0069}\u{e0067}\u{e006e}\u2060a\ufeff \u0645\u06cc\u200c\u062e', 100)).toBe(
    'read a \u0645\u06cc\u200c\u062e',
  );
  expect(plainText('x'.repeat(5), 3)).toBe('xxx… (5 characters)');
  expect(plainText('🚢🚢', 3)).toBe('🚢… (4 characters)');
});
