import { expect, test } from 'vitest';
import { shownLines } from '../../../src/trust/terminal/shown-text.js';

test('lines that exactly fill the limit are shown whole', () => {
  expect(shownLines('a\nb\r\nc\n', 27)).toEqual(['    1| a', '    2| b', '    3| c']);
});

test('the first line that exceeds the limit is named', () => {
  expect(shownLines('a\nb\nc', 26)).toEqual(['    1| a', '    2| b', '     … cut in line 3 of 3']);
});
