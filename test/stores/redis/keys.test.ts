import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromKeyPiece, RedisKeys, toKeyPiece } from '../../../src/stores/redis/keys.js';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
  fc.string({ unit: fc.constantFrom('a', ':', '{', '}', '%', '*', '0', ''), maxLength: 8 }),
);
const safe = /^(%|([^:{}*?[\]\\\s%\p{Cc}\p{Cs}]|%[0-9a-f]{4})+)$/u;

test('any string is encoded without characters that are special in keys, and can be decoded', () => {
  fc.assert(
    fc.property(text, (original) => {
      const piece = toKeyPiece(original);
      expect(piece).toMatch(safe);
      expect(Buffer.from(piece).toString()).toBe(piece);
      expect(fromKeyPiece(piece)).toBe(original);
    }),
    { numRuns: 2000 },
  );
});

/** Returns the part of a key that Redis hashes: the string between the first `{` and the next `}`. */
function hashTag(key: string): string {
  return /\{([^}]+)\}/.exec(key)?.[1] ?? key;
}

test('for any prefix and ids, all keys of a session are in one slot, and all keys are different', () => {
  fc.assert(
    fc.property(text, fc.uniqueArray(text, { minLength: 2, maxLength: 2 }), (prefix, ids) => {
      const keys = new RedisKeys(prefix);
      const ofEach = ids.map((id) => {
        const piece = toKeyPiece(id);
        const session = [...keys.state(piece), keys.value(piece, 'x:y'), ...keys.session(id), keys.posts(id)];
        expect(new Set(session.map(hashTag))).toEqual(new Set([piece]));
        return [...session, keys.sessions(piece)];
      });
      expect(new Set(ofEach.flat()).size).toBe(22);
    }),
  );
});
