import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { a, b, type StateSubject, stored } from './subject.js';

export const lifetimeCases: CaseTable<StateSubject> = {
  'an unused value expires, and no longer counts in any size': async ({ store, pass, short, unitMs }) => {
    await store.set(a, { key: 'k', value: 'xx' }, short);
    await store.set(b, { key: 'k', value: 'xxx' }, { ...short, ttlMs: 8 * unitMs });

    await pass(5);

    expectThat(await store.stats('s')).equals({ bytes: 4, extensions: { b: 4 } });
    expectThat(await store.get(a, 'k', short)).equals(undefined);
    expectThat(await store.clear(a)).equals(0);
    expectThat(await store.set(a, { key: 'k', value: 'x' }, short)).equals(stored(4, 6));
  },
  'reading and writing a value restart its lifetime': async ({ store, pass, short }) => {
    for (const key of ['read', 'written', 'left']) await store.set(a, { key, value: 'x' }, short);

    await pass(2);
    await store.get(a, 'read', short);
    await store.set(a, { key: 'written', value: 'y' }, short);
    await pass(3);

    const values = await Promise.all(['read', 'written', 'left'].map((key) => store.get(a, key, short)));
    expectThat(values).equals(['x', 'y', undefined]);
  },
  'unused values that expire with their session are kept while the session is active': async ({
    store,
    pass,
    bound,
    unitMs,
  }) => {
    await store.set(a, { key: 'k', value: 'x' }, bound);
    await store.set(b, { key: 'k', value: 'x' }, bound);
    await store.set(a, { key: 'brief', value: 'x' }, { ...bound, ttlMs: 3 * unitMs });

    for (let count = 0; count < 3; count += 1) {
      await pass(2);
      await store.touch('s', bound);
    }

    expectThat(await store.stats('s')).equals({ bytes: 4, extensions: { a: 2, b: 2 } });
    await pass(5);
    expectThat(await store.stats('s')).equals({ bytes: 0, extensions: {} });
    expectThat(await store.get(a, 'k', bound)).equals(undefined);
  },
  'the use of one value keeps the session, but not values with a shorter lifetime': async ({
    store,
    pass,
    bound,
    unitMs,
  }) => {
    await store.set(a, { key: 'bound', value: 'x' }, bound);
    await store.set(b, { key: 'bound', value: 'x' }, bound);
    await store.set(b, { key: 'brief', value: 'x' }, { ...bound, ttlMs: 3 * unitMs });

    await pass(2);
    await store.get(a, 'bound', bound);
    await pass(2);
    await store.set(a, { key: 'new', value: 'x' }, bound);
    await pass(2);

    expectThat(await store.stats('s')).equals({ bytes: 16, extensions: { a: 10, b: 6 } });
  },
  'no value outlives its session': async ({ store, pass, roomy, unitMs }) => {
    await store.set(a, { key: 'k', value: 'x' }, { ...roomy, ttlMs: 8 * unitMs, sessionTtlMs: 9 * unitMs });

    await store.touch('s', { ...roomy, sessionTtlMs: 2 * unitMs });
    await pass(3);

    expectThat(await store.get(a, 'k', roomy)).equals(undefined);
  },
};
