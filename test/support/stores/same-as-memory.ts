import fc from 'fast-check';
import type { Entry } from 'keelson';
import { MemorySessionStore } from 'keelson';
import type { SessionStore } from 'keelson/store';
import { expect } from 'vitest';
import type { Awaitable } from '../../../src/internal/promise.js';
import { fakeClock } from '../agent/fake-clock.js';

/** An empty store with a clock that stands still until `pass` moves it. */
export interface ComparedStore {
  readonly store: SessionStore;
  readonly now: number;
  pass(ms: number): Awaitable<void>;
  close?(): Awaitable<void>;
}

/** One call. Gets the uid that the store gave to the session. */
type Step = (store: SessionStore, uid: string) => unknown;

const LONGEST_MS = 30;
const small = fc.integer({ min: 0, max: 6 });
const name = fc.constantFrom('x', 'y');
const ms = fc.integer({ min: 1, max: LONGEST_MS });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const ids = fc.constantFrom('1', '2', '3', '4', '5', '6', '7', 'a\\b', 'a\0b');
const message = ids.map(
  (id): Entry => ({ id, at: 1, body: { type: 'message', message: { role: 'user', content: 'm' } } }),
);
const posts = fc.tuple(ids, maybe(name)).map(([id, run]): Entry => {
  if (run !== undefined) return { id, at: 1, body: { type: 'post', post: { type: 'stop', run } } };
  return { id, at: 1, body: { type: 'post', post: { type: 'message', message: { role: 'user', content: 'p' } } } };
});
const details = fc.record(
  { owner: fc.constantFrom('ada', 'bob'), title: fc.string(), data: fc.dictionary(fc.string(), fc.integer()) },
  { requiredKeys: [] },
);
const known = fc.tuple(small, fc.boolean());
const knownIn = (uid: string, given: readonly [number, boolean] | undefined) =>
  given && { uid: given[1] ? uid : 'other', length: given[0] };

const claims = fc
  .record({ token: name, by: maybe(name), ttlMs: ms, known: maybe(known), details: maybe(details) })
  .map((claim): Step => {
    return (store, uid) => store.claim('s', { ...claim, run: claim.token, known: knownIn(uid, claim.known) });
  });
const appends = fc
  .record({
    token: name,
    length: small,
    entries: fc.array(message, { maxLength: 3 }),
    context: maybe(small),
    waits: maybe(fc.option(name)),
    release: maybe(fc.boolean()),
  })
  .map(
    (append): Step =>
      (store) =>
        store.append('s', append),
  );
const loads = fc
  .record({
    known: maybe(known),
    from: maybe(fc.constantFrom('start', 'context')),
    before: maybe(small),
    limit: maybe(small),
  })
  .map(
    (query): Step =>
      (store, uid) =>
        store.load('s', { ...query, known: knownIn(uid, query.known) }),
  );

const others: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ token: name, length: small }).map(
    (claim): Step =>
      (it) =>
        it.append('s', { ...claim, entries: [], release: true }),
  ),
  fc.constantFrom('ada', 'bob').map(
    (owner): Step =>
      (it) =>
        it.list({ owner }),
  ),
  details.map(
    ({ title, data }): Step =>
      (it) =>
        it.update('s', { title, data }),
  ),
  fc.constant((it: SessionStore) => it.delete('s')),
);
const calls: fc.Arbitrary<Step> = fc.oneof(
  claims,
  appends,
  loads,
  fc.record({ token: name, ttlMs: ms, waitsFor: maybe(name) }).map(
    (claim): Step =>
      (it) =>
        it.renew('s', claim),
  ),
  posts.map(
    (post): Step =>
      (it) =>
        it.post('s', post),
  ),
  others,
);
const pauses = fc.constantFrom(0, 0, 0, 0, 1, LONGEST_MS);
const steps = fc.array(fc.tuple(calls, pauses), { minLength: 1, maxLength: 40 });

/** Checks that a store gives the answers of the memory store to any sequence of calls. */
export async function checkSameAsMemory(open: () => Awaitable<ComparedStore>, numRuns: number): Promise<void> {
  const sequence = fc.asyncProperty(steps, async (given) => {
    const subject = await open();
    const found = await answersOf(subject, given);
    await subject.close?.();
    const clock = fakeClock(subject.now);
    const memory = { store: new MemorySessionStore({ clock }), now: subject.now, pass: clock.advance };
    expect(found).toEqual(await answersOf(memory, given));
  });
  await fc.assert(sequence, { numRuns });
}

/** Returns the answer of each call, with the same uid for each store. */
async function answersOf({ store, pass }: ComparedStore, steps: readonly [Step, number][]): Promise<unknown[]> {
  const uids: string[] = [];
  const answers: unknown[] = [];
  for (const [step, wait] of steps) {
    if (wait > 0) await pass(wait);
    const uid = (await store.load('s'))?.uid ?? '';
    const answer = (await step(store, uid)) ?? null;
    const found = (answer as { readonly uid?: string } | null)?.uid;
    if (found !== undefined && !uids.includes(found)) uids.push(found);
    answers.push(found === undefined ? answer : { ...(answer as object), uid: uids.indexOf(found) });
  }
  return answers;
}
