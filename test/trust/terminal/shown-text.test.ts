import { expect, test } from 'vitest';
import { shownLines } from '../../../src/trust/terminal/shown-text.js';

test('lines that exactly fill the limit are shown whole', () => {
  expect(shownLines('a\nb\r\nc\n', 27)).toEqual(['    1| a', '    2| b', '    3| c']);
});

test('the first line that exceeds the limit is named', () => {
  expect(shownLines('a\nb\nc', 26)).toEqual(['    1| a', '    2| b', '     … cut in line 3 of 3']);
});

test('control characters are escaped in every row of a long line', () => {
  const line = `${'x'.repeat(500)}\u001b[2K${'y'.repeat(496)}\u202e`;

  expect(shownLines(line, 10_000)).toEqual([
    `    1| ${'x'.repeat(500)}`,
    `     | \\u{1b}[2K${'y'.repeat(496)}`,
    '     | \\u{202e}',
  ]);
});

test('an indent of up to 40 blanks is kept, and a wider one is counted', () => {
  const [kept, wide] = [40, 41].map((width) => `${' '.repeat(width)}x`);

  expect(shownLines(`${kept}\n${wide}`, 1_000)).toEqual([`    1| ${kept}`, '    2| (41 blanks) x']);
});

test('an empty line is an empty row', () => {
  expect(shownLines('a\n\nb', 1_000)).toEqual(['    1| a', '    2| ', '    3| b']);
});
