import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toJson } from '../../src/internal/json.js';

const piece = fc.constantFrom('\ud83d', '\ude00', '\u{1f600}', '\\', 'ud83d', '"', 'a', '\n', '\u2028');
const text = fc.array(piece).map((pieces) => pieces.join(''));

/** Returns the value with U+FFFD for each lone surrogate, in member names too. */
function repaired(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\p{Cs}/gu, '\ufffd');
  if (Array.isArray(value)) return value.map(repaired);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map((entry) => entry.map(repaired)));
}

test('any JSON has each lone surrogate replaced, and is otherwise the same', () => {
  const value = fc.letrec((tie) => ({
    tree: fc.oneof(text, fc.constant(null), fc.integer(), fc.array(tie('tree')), fc.dictionary(text, tie('tree'))),
  })).tree;
  fc.assert(
    fc.property(value, (given) => {
      expect(JSON.parse(toJson(given))).toEqual(repaired(given));
    }),
  );
});
