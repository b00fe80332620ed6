import { MAX_SCOPE_KEYS } from '../../../state/state-key.js';
import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { a, b, type StateSubject, stored } from './subject.js';

export const limitCases: CaseTable<StateSubject> = {
  'a write above the limit of an extension evicts the least recently used values': async ({ store, tight }) => {
    for (const key of ['1', '2', '3', '4']) await store.set(a, { key, value: 'xx' }, tight);
    await store.get(a, '1', tight);

    const change = await store.set(a, { key: '5', value: 'xxxxx' }, tight);

    expectThat(change).equals(
      stored(12, 12, [
        { key: '2', bytes: 3 },
        { key: '3', bytes: 3 },
      ]),
    );
    const left = await Promise.all(['1', '2', '3', '4', '5'].map((key) => store.get(a, key, tight)));
    expectThat(left).equals(['xx', undefined, undefined, 'xx', 'xxxxx']);
  },
  'a growing value evicts other values, never itself': async ({ store, tight }) => {
    await store.set(a, { key: 'old', value: 'xxx' }, tight);
    await store.set(a, { key: 'mid', value: 'xxx' }, tight);

    expectThat(await store.set(a, { key: 'old', value: 'x'.repeat(9) }, tight)).equals(
      stored(12, 12, [{ key: 'mid', bytes: 6 }]),
    );
    expectThat(await store.set(a, { key: 'old', value: 'x'.repeat(11) }, tight)).matches({
      evicted: [],
      bytesAfter: 14,
    });
  },
  'a write above the limit of a session evicts only values of the writing extension': async ({ store, tight }) => {
    await store.set(b, { key: 'other', value: 'x'.repeat(9) }, tight);
    await store.set(a, { key: '1', value: 'xxx' }, tight);
    await store.set(a, { key: '2', value: 'xxx' }, tight);

    expectThat(await store.set(a, { key: '3', value: 'xxxx' }, tight)).equals(stored(22, 23, [{ key: '1', bytes: 4 }]));
    expectThat(await store.stats('s')).equals({ bytes: 23, extensions: { a: 9, b: 14 } });
  },
  'a value that cannot fit is refused, and the old value is kept': async ({ store, tight }) => {
    await store.set(b, { key: 'other', value: 'x'.repeat(9) }, tight);
    await store.set(a, { key: '1', value: 'old' }, tight);
    await store.set(a, { key: '2', value: 'xx' }, tight);
    const refused = { stored: false, evicted: [], bytesBefore: 21, bytesAfter: 21 };

    expectThat(await store.set(a, { key: '1', value: 'x'.repeat(10) }, tight)).equals(refused);
    expectThat(await store.set(a, { key: '1', value: 'x'.repeat(14) }, { ...tight, sessionBytes: 100 })).equals(
      refused,
    );
    expectThat(await store.get(a, '1', tight)).equals('old');
    expectThat(await store.get(a, '2', tight)).equals('xx');
  },
  '100 concurrent writes never exceed the limits': async ({ store, tight }) => {
    await store.set(b, { key: 'other', value: 'xxxx' }, tight);

    const changes = await Promise.all(
      Array.from({ length: 100 }, (_, at) => store.set(a, { key: `${at}`, value: 'x'.repeat(1 + (at % 5)) }, tight)),
    );

    expectThat(changes.filter(({ stored }) => !stored)).equals([]);
    expectThat(Math.max(...changes.map(({ bytesAfter }) => bytesAfter))).isAtMost(23);
    const { bytes, extensions } = await store.stats('s');
    expectThat(bytes).equals(9 + (extensions.a ?? 0));
    expectThat(extensions.b).equals(9);
    expectThat(bytes).isAtMost(23);
  },
  'a scope with the maximum number of keys evicts the least recently used one': async ({ store, roomy }) => {
    // Only these two have a known order.
    for (const key of ['0', '1']) await store.set(a, { key, value: 'x' }, roomy);
    const writes = Array.from({ length: MAX_SCOPE_KEYS - 2 }, (_, at) => at + 2);
    for (let at = 0; at < writes.length; at += 500) {
      await Promise.all(writes.slice(at, at + 500).map((key) => store.set(a, { key: `${key}`, value: 'x' }, roomy)));
    }
    await store.get(a, '0', roomy);

    const { evicted, bytesAfter } = await store.set(a, { key: 'more', value: 'x' }, roomy);

    expectThat({ evicted, bytesAfter }).equals({
      evicted: [{ key: '1', bytes: 2 }],
      // 9,999 keys of digits without "1", and "more", with a value of one byte each.
      bytesAfter: MAX_SCOPE_KEYS + 38_889 + 4,
    });
    expectThat(await store.get(a, '0', roomy)).equals('x');
    expectThat(await store.get(a, '1', roomy)).equals(undefined);
  },
};
