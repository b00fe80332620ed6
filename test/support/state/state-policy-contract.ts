import { expect, test } from 'vitest';
import type { StatePolicy, StateStore } from '../../../src/state/state-store.js';

const a = { extension: 'a', session: 's' };

/** Defines the tests of policies that every state store must pass. */
export function testStatePolicies(start: () => Promise<StateStore>, roomy: StatePolicy): void {
  test.each<Partial<StatePolicy>>([
    { ttlMs: Number.NaN },
    { ttlMs: 0 },
    { sessionTtlMs: -1 },
    { extensionBytes: Number.NaN },
    { sessionBytes: -1 },
    { sessionBytes: '5' as never },
  ])('an invalid policy is refused, and changes nothing: %j', async (invalid) => {
    const store = await start();
    await store.set(a, { key: 'k', value: 'x' }, roomy);
    const policy = { ...roomy, ...invalid };
    const refused = { code: 'ERR_OPTION_INVALID' };

    await expect((async () => store.set(a, { key: 'k', value: 'y' }, policy))()).rejects.toMatchObject(refused);
    await expect((async () => store.get(a, 'k', policy))()).rejects.toMatchObject(refused);
    await expect((async () => store.touch('s', policy))()).rejects.toMatchObject(refused);

    expect(await store.get(a, 'k', roomy)).toBe('x');
  });

  test('infinite times and limits of 0 are valid in a policy', async () => {
    const store = await start();
    const endless = { ...roomy, ttlMs: Number.POSITIVE_INFINITY, sessionTtlMs: 2 ** 53 };
    await store.set(a, { key: 'k', value: 'x' }, endless);

    expect(await store.get(a, 'k', { ...endless, ttlMs: 2 ** 53 - 1 })).toBe('x');
    expect(await store.set(a, { key: 'k', value: 'xx' }, { ...endless, extensionBytes: 1 })).toMatchObject({
      stored: false,
    });
    const least = { ...endless, extensionBytes: 1, sessionBytes: 1 };
    const zero = { ...endless, extensionBytes: 0, sessionBytes: 0 };
    expect(await store.set(a, { key: 'e', value: '' }, zero)).toMatchObject({ stored: false });
    expect(await store.set(a, { key: 'e', value: '' }, least)).toMatchObject({
      stored: true,
      evicted: [{ key: 'k', bytes: 2 }],
      bytesAfter: 1,
    });
  });
}
