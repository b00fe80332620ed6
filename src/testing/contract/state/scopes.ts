import { MAX_KEY_LENGTH } from '../../../state/state-key.js';
import type { StateScope } from '../../../state/state-store.js';
import { type CaseTable, ODD_STRINGS } from '../contract-case.js';
import { expectFailure, expectThat } from '../expect-that.js';
import { a, b, elsewhere, type StateSubject, stored } from './subject.js';

/** Pairs of ids that collide if a store joins, escapes, matches or uses them as paths or properties incorrectly. */
const lookAlikes: readonly StateScope[] = [
  ['a', 'b:c'],
  ['a:b', 'c'],
  ['a-b', 'c'],
  ['a', 'b-c'],
  ['a', 'b'],
  ['ab', ''],
  ['', 'ab'],
  ['*', 's'],
  ['a*', 's?'],
  ['[ab]', '{s}'],
  ['../a', 's'],
  ['a', '../s'],
  ['a/b', 's'],
  ['a', 'b/s'],
  ['a\\b', 's'],
  ['a%3Ab', 'c'],
  ['A', 'S'],
  ['A', 's'],
  ['con', 'nul'],
  ['.', '..'],
  ['__proto__', 'constructor'],
  ['a\0b', 's\n'],
  ['é', 's'],
  ['e\u0301', 's'],
  ['\ud800', 's'],
  ['\ud801', 's'],
  ['x'.repeat(300), 's'],
  [`${'x'.repeat(299)}y`, 's'],
  ['a', 'x'.repeat(5000)],
].map(([extension = '', session = '']) => ({ extension, session }));

export const scopeCases: CaseTable<StateSubject> = {
  'get returns undefined before a set, and the value afterwards': async ({ store, roomy }) => {
    expectThat(await store.get(a, 'k', roomy)).equals(undefined);
    expectThat(await store.set(a, { key: 'k', value: 'ü🎉' }, roomy)).equals(stored(0, 7));
    expectThat(await store.get(a, 'k', roomy)).equals('ü🎉');
    expectThat(await store.set(a, { key: 'k', value: '' }, roomy)).equals(stored(7, 1));
    expectThat(await store.get(a, 'k', roomy)).equals('');
  },
  'similar scopes are kept separate, and clear affects only one of them': async ({ store, roomy }) => {
    for (const [at, scope] of lookAlikes.entries()) await store.set(scope, { key: 'k', value: `${at}` }, roomy);

    const values = () => Promise.all(lookAlikes.map((scope) => store.get(scope, 'k', roomy)));
    const all = lookAlikes.map((_scope, at) => `${at}`);
    expectThat(await values()).equals(all);
    for (const [at, scope] of lookAlikes.entries()) {
      expectThat(await store.clear(scope)).equals(1);
      expectThat(await values()).equals(all.map((value, other) => (other > at ? value : undefined)));
    }
  },
  'keys may be any strings, and are kept separate': async ({ store, roomy }) => {
    for (const [at, key] of ODD_STRINGS.entries()) await store.set(a, { key, value: `${at}` }, roomy);

    expectThat(await Promise.all(ODD_STRINGS.map((key) => store.get(a, key, roomy)))).equals(
      ODD_STRINGS.map((_key, at) => `${at}`),
    );
    expectThat(await store.clear(a, '*')).equals(1);
    expectThat(await store.clear(a)).equals(ODD_STRINGS.length - 1);
  },
  'any string is returned unchanged': async ({ store, roomy }) => {
    const values = ['a\nb\r\nc', '\0', '"\\', '\u2028\u2029', '{"x":1}', 'é🎉'.repeat(20_000)];
    for (const [at, value] of values.entries()) await store.set(a, { key: `${at}`, value }, roomy);

    for (const [at, value] of values.entries()) expectThat(await store.get(a, `${at}`, roomy)).equals(value);
  },
  'a key that is empty or too long is refused with a typed error': async ({ store, roomy }) => {
    const attempts = (key: string) => [
      async () => store.get(a, key, roomy),
      async () => store.set(a, { key, value: 'x' }, roomy),
      async () => store.clear(a, key),
    ];
    await store.set(a, { key: 'x'.repeat(MAX_KEY_LENGTH), value: 'longest' }, roomy);

    for (const attempt of [...attempts(''), ...attempts('x'.repeat(MAX_KEY_LENGTH + 1))]) {
      await expectFailure(attempt, { code: 'ERR_STATE_KEY' });
    }
    expectThat(await store.stats('s')).equals({ bytes: 7 + MAX_KEY_LENGTH, extensions: { a: 7 + MAX_KEY_LENGTH } });
  },
  'clear removes one value or all values of a scope, and returns their number': async ({ store, roomy }) => {
    for (const scope of [a, b, elsewhere])
      for (const key of ['1', '2', '3']) await store.set(scope, { key, value: key }, roomy);

    expectThat(await store.clear(a, '1')).equals(1);
    expectThat(await store.clear(a, '1')).equals(0);
    expectThat(await store.clear(a)).equals(2);
    expectThat(await store.clear(a)).equals(0);
    expectThat(await store.stats('s')).equals({ bytes: 6, extensions: { b: 6 } });
    expectThat(await store.stats('t')).equals({ bytes: 6, extensions: { a: 6 } });
  },
  'clearExtension clears all sessions, and clearSession clears all extensions': async ({ store, roomy }) => {
    for (const scope of [a, b, elsewhere])
      for (const key of ['1', '2']) await store.set(scope, { key, value: key }, roomy);

    expectThat(await store.clearExtension('a')).equals(4);
    expectThat(await store.clearExtension('a')).equals(0);
    expectThat(await store.stats('t')).equals({ bytes: 0, extensions: {} });
    expectThat(await store.clearSession('s')).equals(2);
    expectThat(await store.clearSession('s')).equals(0);
    expectThat(await store.get(b, '1', roomy)).equals(undefined);
    expectThat(await store.set(b, { key: '1', value: 'anew' }, roomy)).matches({
      stored: true,
      bytesBefore: 0,
      bytesAfter: 5,
    });
  },
  'a touch, or a read without a result, creates no session': async ({ store, roomy }) => {
    await store.touch('s', roomy);
    await store.get(a, 'k', roomy);

    expectThat(await store.stats('s')).equals({ bytes: 0, extensions: {} });
    expectThat(await store.clearSession('s')).equals(0);
  },
};
