import { expect, test } from 'vitest';
import { firstParagraph } from '../../src/skills/first-paragraph.js';

test('the first paragraph after a heading of a megabyte is found in little time', () => {
  const before = performance.now();
  expect(firstParagraph(`# ${'x '.repeat(500_000)}\n\nMoors.`)).toBe('Moors.');
  expect(performance.now() - before).toBeLessThan(500);
});
