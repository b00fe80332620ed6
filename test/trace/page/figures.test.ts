import { expect, test } from 'vitest';
import { countText, timeText } from '../../../src/page/view/figures.js';

test.each([
  [0, '0 ms'],
  [12.4, '12 ms'],
  [999.7, '1.0 s'],
  [1_240, '1.2 s'],
  [59_940, '59.9 s'],
  [59_990, '1 min'],
  [119_700, '2 min'],
  [125_000, '2 min 5 s'],
])('%d milliseconds are shown as %s', (ms, text) => {
  expect(timeText(ms)).toBe(text);
});

test.each([
  [999, '999'],
  [1_200, '1.2k'],
  [9_960, '10k'],
  [999_400, '999k'],
  [999_600, '1M'],
  [3_400_000, '3.4M'],
])('the count %d is shown as %s', (count, text) => {
  expect(countText(count)).toBe(text);
});
