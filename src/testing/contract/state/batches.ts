import type { StateStore } from '../../../state/state-store.js';
import type { CaseTable } from '../contract-case.js';
import { expectFailure, expectThat } from '../expect-that.js';
import { a, b, elsewhere, type StateSubject, stored } from './subject.js';

/** A store with the optional methods `peek` and `apply`. */
interface BatchSubject extends StateSubject {
  readonly store: StateStore & Required<Pick<StateStore, 'peek' | 'apply'>>;
}

const session = 's';

const cases: CaseTable<BatchSubject> = {
  '`peek` returns the values and sizes of the requested extensions in one session': async ({ store, roomy }) => {
    const none = { bytes: 0, extensions: {}, values: [], complete: ['a', 'b'] };
    expectThat(await store.peek({ session, extensions: ['a', 'b'], extensionBytes: 100 })).equals(none);
    for (const scope of [a, b, elsewhere]) await store.set(scope, { key: 'k: %', value: scope.session }, roomy);

    expectThat(await store.peek({ session, extensions: ['b', '*'], extensionBytes: 100 })).equals({
      bytes: 10,
      extensions: { a: 5, b: 5 },
      values: [{ extension: 'b', key: 'k: %', value: 's' }],
      complete: ['b', '*'],
    });
  },
  '`peek` returns the most recently used values if not all fit': async ({ store, roomy }) => {
    for (const key of ['1', '2', '3']) await store.set(a, { key, value: 'x' }, roomy);
    await store.get(a, '1', roomy);
    await store.set(b, { key: '1', value: 'x' }, roomy);

    const { values, complete } = await store.peek({ session, extensions: ['a', 'b'], extensionBytes: 5 });

    expectThat(values.map(({ extension, key }) => extension + key)).equals(['a1', 'a3', 'b1']);
    expectThat(complete).equals(['b']);
  },
  '`peek` restarts no lifetime, and does not return expired values': async ({ store, pass, short }) => {
    const query = { session, extensions: ['a'], extensionBytes: 100 };
    await store.set(a, { key: 'k', value: 'x' }, short);

    await pass(2);
    expectThat(await store.peek(query)).matches({ bytes: 2 });
    await pass(3);

    expectThat(await store.peek(query)).equals({ bytes: 0, extensions: {}, values: [], complete: ['a'] });
  },
  '`apply` stores values, and restarts the lifetime of values that were read': async ({ store, pass, short }) => {
    for (const key of ['read', 'left']) await store.set(a, { key, value: 'x' }, short);
    await pass(2);

    const entries = [
      { extension: 'a', key: 'new', value: '1' },
      { extension: 'b', key: 'new', value: '22', ifValue: null },
    ];
    const used = [
      { extension: 'a', key: 'read' },
      { extension: 'a', key: 'missing' },
    ];
    expectThat(await store.apply({ session, entries, used }, short)).equals([stored(10, 14), stored(14, 19)]);
    await pass(3);

    const values = await Promise.all(['read', 'left', 'new'].map((key) => store.get(a, key, short)));
    expectThat(values).equals(['x', undefined, '1']);
    expectThat(await store.get(b, 'new', short)).equals('22');
  },
  '`apply` refuses single values by their condition or their size, and evicts like `set`': async ({ store, tight }) => {
    for (const key of ['1', '2', '3']) await store.set(a, { key, value: 'xxx' }, tight);
    const entries = [
      { extension: 'a', key: '1', value: 'yyy', ifValue: 'other' },
      { extension: 'a', key: '2', value: 'yyy', ifValue: 'xxx' },
      { extension: 'a', key: '4', value: 'x'.repeat(20) },
      { extension: 'a', key: '5', value: 'xx' },
    ];

    const changes = await store.apply({ session, entries, used: [{ extension: 'a', key: '1' }] }, tight);

    expectThat(changes).equals([
      { stored: false, conflict: true, evicted: [], bytesBefore: 12, bytesAfter: 12 },
      stored(12, 12),
      { stored: false, evicted: [], bytesBefore: 12, bytesAfter: 12 },
      stored(12, 11, [{ key: '3', bytes: 4 }]),
    ]);
    expectThat(await store.get(a, '1', tight)).equals('xxx');
    expectThat(await store.get(a, '2', tight)).equals('yyy');
  },
  '`apply` without an effect creates no session': async ({ store, roomy }) => {
    const used = [{ extension: 'a', key: 'k' }];
    const entries = [{ extension: 'a', key: 'k', value: 'x', ifValue: 'never' }];

    expectThat(await store.apply({ session, entries: [], used }, roomy)).equals([]);
    expectThat(await store.apply({ session, entries, used }, roomy)).matches([{ stored: false, conflict: true }]);

    expectThat(await store.stats(session)).equals({ bytes: 0, extensions: {} });
    expectThat(await store.clearSession(session)).equals(0);
  },
  '`apply` refuses an invalid key or policy, and changes nothing': async ({ store, roomy }) => {
    const entries = [
      { extension: 'a', key: 'k', value: 'x' },
      { extension: 'a', key: '', value: 'x' },
    ];

    await expectFailure(() => store.apply({ session, entries, used: [] }, roomy), { code: 'ERR_STATE_KEY' });
    const invalid = { ...roomy, ttlMs: 0 };
    const [entry] = entries;
    const batch = { session, entries: entry === undefined ? [] : [entry], used: [] };
    await expectFailure(() => store.apply(batch, invalid), { code: 'ERR_OPTION_INVALID' });

    expectThat(await store.stats(session)).equals({ bytes: 0, extensions: {} });
  },
  'a value that `apply` stores is found by `clearExtension`': async ({ store, roomy }) => {
    const entries = ['a', 'b'].map((extension) => ({ extension, key: 'k', value: 'x' }));
    await store.apply({ session, entries, used: [] }, roomy);

    expectThat(await store.clearExtension('a')).equals(1);
    expectThat(await store.clearExtension('b')).equals(1);
  },
};

function hasBatches(given: StateSubject): given is BatchSubject {
  return given.store.peek !== undefined && given.store.apply !== undefined;
}

/** The cases of `peek` and `apply`. A store that lacks these optional methods passes all of them. */
export const batchCases: CaseTable<StateSubject> = Object.fromEntries(
  Object.entries(cases).map(([name, test]) => [
    name,
    async (given: StateSubject) => {
      if (hasBatches(given)) await test(given);
    },
  ]),
);
