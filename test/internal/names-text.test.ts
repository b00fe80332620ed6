import { expect, test } from 'vitest';
import { namesText } from '../../src/internal/names-text.js';

test.each([
  [[], ''],
  [['a', 'b'], 'a, b'],
  [['a', 'b', 'c'], 'a, b, c'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
])('lists the first three names and counts the others: %j', (names, text) => {
  expect(namesText(names, 3)).toBe(text);
});
