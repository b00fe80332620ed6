import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { a, type StateSubject } from './subject.js';

export const conditionCases: CaseTable<StateSubject> = {
  'a write with `ifValue` stores only over that value': async ({ store, roomy }) => {
    const conflict = { stored: false, conflict: true, evicted: [], bytesBefore: 2, bytesAfter: 2 };

    expectThat(await store.set(a, { key: 'k', value: '1', ifValue: null }, roomy)).matches({ stored: true });
    expectThat(await store.set(a, { key: 'k', value: '2', ifValue: null }, roomy)).equals(conflict);
    expectThat(await store.set(a, { key: 'k', value: '2', ifValue: '0' }, roomy)).equals(conflict);
    expectThat(await store.set(a, { key: 'k', value: '2', ifValue: '1' }, roomy)).matches({ stored: true });
    expectThat(await store.get(a, 'k', roomy)).equals('2');
  },
  'of many concurrent writes over the same value, exactly one is stored': async ({ store, bound }) => {
    await store.set(a, { key: 'k', value: 'old' }, bound);

    const changes = await Promise.all(
      Array.from({ length: 20 }, (_, at) => store.set(a, { key: 'k', value: `${at}`, ifValue: 'old' }, bound)),
    );

    expectThat(changes.filter(({ stored }) => stored)).hasLength(1);
    expectThat(changes.filter((change) => change.conflict)).hasLength(19);
  },
};
