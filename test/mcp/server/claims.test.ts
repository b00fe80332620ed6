import fc from 'fast-check';
import type { McpServerEntry, McpServerOrigin } from 'keelson/mcp';
import { expect, test } from 'vitest';
import { NameClaims, originOf } from '../../../src/mcp/servers/claims.js';

function entryOf(origin: McpServerOrigin): McpServerEntry {
  return { name: 'db', problem: 'it is invalid', notes: [], origin };
}

const text = fc.constantFrom('a', 'b', 'a-b', 'B', 'é', undefined);
const origin: fc.Arbitrary<McpServerOrigin> = fc.record({
  scope: fc.constantFrom('builtin', 'user', 'workspace'),
  extension: text,
  source: text,
});

test('the server that has a name does not depend on the order in which servers are added and removed', () => {
  const origins = fc.uniqueArray(origin, { minLength: 1, maxLength: 6, selector: (one) => JSON.stringify(one) });
  fc.assert(
    fc.property(
      origins.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
      origin,
      ([all, shuffled], other) => {
        const [one, two] = [new NameClaims(), new NameClaims()];
        for (const item of all) one.put(entryOf(item));
        two.put(entryOf(other));
        for (const item of shuffled) two.put(entryOf(item));
        if (!all.some((item) => JSON.stringify(item) === JSON.stringify(other))) two.remove('db', other);

        expect(two.holder('db')).toEqual(one.holder('db'));
      },
    ),
    { numRuns: 500 },
  );
});

test('the host goes before the user, and the user before the workspace', () => {
  const claims = new NameClaims();
  const origins = [
    { scope: 'workspace' },
    { scope: 'workspace', precedence: 'user', extension: 'db' },
    { scope: 'user', extension: 'aa' },
    { scope: 'builtin' },
  ] as const;
  for (const one of origins) claims.put(entryOf(one));
  const order: unknown[] = [];

  for (let holder = claims.holder('db'); holder !== undefined; holder = claims.holder('db')) {
    order.push(originOf(holder));
    claims.remove('db');
  }

  expect(order).toEqual([origins[3], origins[2], origins[1], origins[0]]);
});

test('in one scope, a server without an extension goes first, then extensions and files in code-unit order', () => {
  const claims = new NameClaims();
  const origins = [{ extension: 'b' }, { extension: 'B' }, { source: '/b' }, { source: '/a' }, {}] as const;
  for (const one of origins) claims.put(entryOf({ scope: 'user', ...one }));
  const order: unknown[] = [];

  for (let gone = claims.remove('db'); gone !== undefined; gone = claims.remove('db')) {
    const { scope: _scope, ...more } = originOf(gone);
    order.push(more);
  }

  expect(order).toEqual([{}, { source: '/a' }, { source: '/b' }, { extension: 'B' }, { extension: 'b' }]);
});

test('a second server of the same origin replaces the first one', () => {
  const claims = new NameClaims();
  claims.put(entryOf({ scope: 'user', source: '/a' }));
  const second = entryOf({ scope: 'user', source: '/a' });

  claims.put(second);

  expect(claims.holder('db')).toBe(second);
  expect(claims.ofFile('/a')).toEqual([second]);
  expect(claims.remove('db')).toBe(second);
  expect(claims.holder('db')).toBe(undefined);
});
