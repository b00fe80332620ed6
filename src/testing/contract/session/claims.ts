import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { type SessionSubject, said } from './subject.js';

const LONG_MS = 60_000;
const append = { keep: 1, append: [said('2')] };

async function saved({ open }: SessionSubject) {
  const store = await open();
  await store.save('a', { keep: 0, append: [said('1')] }, 0);
  const claim = async (token: string, { revision = 1, ttlMs = LONG_MS } = {}) =>
    store.claim('a', { token, revision, ttlMs });
  return { store, claim };
}

export const claimCases: CaseTable<SessionSubject> = {
  'only one of many concurrent claims succeeds': async (subject) => {
    const { claim } = await saved(subject);

    const attempts = await Promise.all(Array.from({ length: 20 }, (_, index) => claim(`${index}`)));

    expectThat(attempts.filter((attempt) => attempt !== undefined)).equals([1]);
  },
  'refuses a claim of another revision and of an unknown session': async (subject) => {
    const { store, claim } = await saved(subject);

    expectThat(await claim('x', { revision: 0 })).equals(undefined);
    expectThat(await claim('x', { revision: 2 })).equals(undefined);
    expectThat(await store.claim('b', { token: 'x', revision: 0, ttlMs: LONG_MS })).equals(undefined);
    expectThat(await claim('y')).equals(1);
  },
  'a claim that is sent twice counts once': async (subject) => {
    const { claim } = await saved(subject);

    expectThat([await claim('x'), await claim('x'), await claim('y')]).equals([1, 1, undefined]);
  },
  'only the holder of a claim can save, and its save ends the claim': async (subject) => {
    const { store, claim } = await saved(subject);
    await claim('x');

    expectThat(await store.save('a', append, 1)).equals(undefined);
    expectThat(await store.save('a', { ...append, claim: 'y' }, 1)).equals(undefined);
    expectThat(await store.save('a', { ...append, claim: 'x' }, 1)).equals(2);
    expectThat(await store.renew('a', 'x', LONG_MS)).equals(false);
    expectThat(await claim('y', { revision: 2 })).equals(1);
  },
  'a released claim can be taken, and counts as an attempt until the next save': async (subject) => {
    const { store, claim } = await saved(subject);
    await claim('x');
    await store.release('a', 'y');
    expectThat(await claim('y')).equals(undefined);

    await store.release('a', 'x');

    expectThat(await store.renew('a', 'x', LONG_MS)).equals(false);
    expectThat(await store.save('a', { ...append, claim: 'x' }, 1)).equals(undefined);
    expectThat(await claim('y')).equals(2);
    expectThat(await store.save('a', { ...append, claim: 'y' }, 1)).equals(2);
    expectThat(await claim('z', { revision: 2 })).equals(1);
  },
  'a claim that is not renewed in time can be taken over': async (subject) => {
    const { store, claim } = await saved(subject);
    expectThat(await claim('x', { ttlMs: 1 })).equals(1);
    await subject.pass(10);

    expectThat(await claim('y', { ttlMs: LONG_MS })).equals(2);

    expectThat(await store.renew('a', 'x', LONG_MS)).equals(false);
    expectThat(await store.save('a', { ...append, claim: 'x' }, 1)).equals(undefined);
    await store.release('a', 'x');
    expectThat(await store.renew('a', 'y', LONG_MS)).equals(true);
    expectThat(await store.save('a', { ...append, claim: 'y' }, 1)).equals(2);
  },
  'a claim that is late but not taken over can be renewed, and its holder can save': async (subject) => {
    const { store, claim } = await saved(subject);
    await claim('x', { ttlMs: 1 });
    await subject.pass(10);

    expectThat(await store.renew('a', 'x', LONG_MS)).equals(true);

    expectThat(await claim('y')).equals(undefined);
    expectThat(await store.save('a', { ...append, claim: 'x' }, 1)).equals(2);
  },
  'a late claim that nobody took over does not stop a save without a claim': async (subject) => {
    const { store, claim } = await saved(subject);
    await claim('x', { ttlMs: 1 });
    await subject.pass(10);

    expectThat(await store.save('a', append, 1)).equals(2);
    expectThat(await store.save('a', { ...append, claim: 'x' }, 2)).equals(undefined);
  },
  'renew and release of an unknown session do nothing': async ({ open }) => {
    const store = await open();

    expectThat(await store.renew('never there', 'x', LONG_MS)).equals(false);
    await store.release('never there', 'x');

    expectThat(await store.load('never there')).equals(undefined);
  },
};
