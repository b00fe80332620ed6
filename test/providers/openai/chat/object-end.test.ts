import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ObjectEnd } from '../../../../src/providers/openai/chat/object-end.js';

function isReached(pieces: readonly string[]): boolean {
  const end = new ObjectEnd();
  for (const piece of pieces) end.add(piece);
  return end.isReached();
}

test('finds the end of any object, split anywhere, and not before', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (object, at) => {
      const text = JSON.stringify(object);
      const cut = at % text.length;

      expect(isReached([text.slice(0, cut)])).toBe(false);
      expect(isReached([text.slice(0, cut), text.slice(cut), ' \n'])).toBe(true);
    }),
  );
});

test('reports no end of other values, and of several objects', () => {
  expect(isReached(['"{}"'])).toBe(false);
  expect(isReached(['[{}]'])).toBe(false);
  expect(isReached(['{}', '{}'])).toBe(false);
  expect(isReached([])).toBe(false);
});

test('reads on after it was asked for the end', () => {
  const end = new ObjectEnd();
  end.add('{"a":"}');
  expect(end.isReached()).toBe(false);
  end.add('"}');
  expect(end.isReached()).toBe(true);
});
