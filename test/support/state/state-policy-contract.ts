import { expect, test } from 'vitest';
import type { StatePolicy, StateStore } from '../../../src/state/state-store.js';

const a = { extension: 'a', session: 's' };

/** What every state store keeps to, whatever policy it is given. */
export function testStatePolicies(start: () => Promise<StateStore>, roomy: StatePolicy): void {
  test.each<Partial<StatePolicy>>([
    { ttlMs: Number.NaN },
    { ttlMs: 0 },
    { sessionTtlMs: -1 },
    { extensionBytes: Number.NaN },
    { sessionBytes: -1 },
    { sessionBytes: '5' as never },
  ])('a policy that nothing can be held to is refused, and changes nothing: %j', async (wrong) => {
    const store = await start();
    await store.set(a, { key: 'k', value: 'x' }, roomy);
    const policy = { ...roomy, ...wrong };
    const refused = { code: 'ERR_OPTION_INVALID' };

    await expect((async () => store.set(a, { key: 'k', value: 'y' }, policy))()).rejects.toMatchObject(refused);
    await expect((async () => store.get(a, 'k', policy))()).rejects.toMatchObject(refused);
    await expect((async () => store.touch('s', policy))()).rejects.toMatchObject(refused);

    expect(await store.get(a, 'k', roomy)).toBe('x');
  });

  test('times without end and limits of nothing are a policy', async () => {
    const store = await start();
    const endless = { ...roomy, ttlMs: Number.POSITIVE_INFINITY, sessionTtlMs: 2 ** 53 };
    await store.set(a, { key: 'k', value: 'x' }, endless);

    expect(await store.get(a, 'k', { ...endless, ttlMs: 2 ** 53 - 1 })).toBe('x');
    expect(await store.set(a, { key: 'k', value: 'xx' }, { ...endless, extensionBytes: 1 })).toMatchObject({
      stored: false,
    });
    const nothing = { ...endless, extensionBytes: 0, sessionBytes: 0 };
    expect(await store.set(a, { key: 'e', value: '' }, nothing)).toMatchObject({
      stored: true,
      evicted: [{ key: 'k', bytes: 1 }],
      bytesAfter: 0,
    });
  });
}
