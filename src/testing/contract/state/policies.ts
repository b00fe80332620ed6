import type { StatePolicy } from '../../../state/state-store.js';
import type { CaseTable } from '../contract-case.js';
import { expectFailure, expectThat } from '../expect-that.js';
import { a, type StateSubject } from './subject.js';

const invalid: readonly Partial<Record<keyof StatePolicy, unknown>>[] = [
  { ttlMs: Number.NaN },
  { ttlMs: 0 },
  { sessionTtlMs: -1 },
  { extensionBytes: Number.NaN },
  { sessionBytes: -1 },
  { sessionBytes: '5' },
];

export const policyCases: CaseTable<StateSubject> = {
  'refuses a policy that is not valid, and changes nothing': async ({ store, roomy }) => {
    await store.set(a, { key: 'k', value: 'x' }, roomy);
    const refused = { code: 'ERR_OPTION_INVALID' };

    for (const part of invalid) {
      const policy = { ...roomy, ...part } as StatePolicy;
      await expectFailure(() => store.set(a, { key: 'k', value: 'y' }, policy), refused);
      await expectFailure(() => store.get(a, 'k', policy), refused);
      await expectFailure(() => store.touch('s', policy), refused);
    }

    expectThat(await store.get(a, 'k', roomy)).equals('x');
  },
  'infinite times and limits of 0 are valid in a policy': async ({ store, roomy }) => {
    const endless = { ...roomy, ttlMs: Number.POSITIVE_INFINITY, sessionTtlMs: 2 ** 53 };
    await store.set(a, { key: 'k', value: 'x' }, endless);

    expectThat(await store.get(a, 'k', { ...endless, ttlMs: 2 ** 53 - 1 })).equals('x');
    const small = await store.set(a, { key: 'k', value: 'xx' }, { ...endless, extensionBytes: 1 });
    expectThat(small).matches({ stored: false });
    const least = { ...endless, extensionBytes: 1, sessionBytes: 1 };
    const zero = { ...endless, extensionBytes: 0, sessionBytes: 0 };
    expectThat(await store.set(a, { key: 'e', value: '' }, zero)).matches({ stored: false });
    const stored = await store.set(a, { key: 'e', value: '' }, least);
    expectThat(stored).matches({ stored: true, evicted: [{ key: 'k', bytes: 2 }], bytesAfter: 1 });
  },
};
