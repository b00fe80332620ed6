import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { LONG_MS, logged, numbered, type RunLogSubject } from './subject.js';

export const readCases: CaseTable<RunLogSubject> = {
  'an unknown run is unknown to each method': async ({ log }) => {
    await log.touch('a');
    await log.delete('a');

    expectThat(await log.read('a', 0)).equals(undefined);
    expectThat(await log.read('a', 5, { waitMs: LONG_MS })).equals(undefined);
  },
  'a log can be read from any offset, in pages of any size': async ({ log }) => {
    await log.append('a', 0, numbered(0, 10));

    for (let from = 0; from <= 12; from += 1) {
      for (const limit of [1, 3, 100]) {
        const events = logged(from, numbered(from, Math.max(0, Math.min(limit, 10 - from))));
        expectThat(await log.read('a', from, { limit })).equals({ events, end: 10 });
      }
    }
  },
  'a read that waits gets the events of another writer': async ({ log, reopen }) => {
    await log.append('a', 0, numbered(0, 2));
    const reader = await reopen();

    const reading = reader.read('a', 2, { waitMs: LONG_MS });
    await log.append('a', 2, numbered(2, 1));

    expectThat(await reading).matches({ events: logged(2, numbered(2, 1)) });
    expectThat(await reader.read('a', 1, { waitMs: LONG_MS })).matches({ events: logged(1, numbered(1, 2)) });
  },
  'a read that waits gets the outcome when the log is closed': async ({ log, reopen }) => {
    await log.append('a', 0, numbered(0, 1));
    const reader = await reopen();

    const reading = reader.read('a', 1, { waitMs: LONG_MS });
    await log.close('a', 'failed');

    expectThat(await reading).equals({ events: [], end: 1, outcome: 'failed' });
    expectThat(await reader.read('a', 1, { waitMs: LONG_MS })).matches({ outcome: 'failed' });
  },
  'a read that waits ends without events after its time, or when its signal fires': async ({ log, pass }) => {
    await log.append('a', 0, numbered(0, 1));
    const leave = new AbortController();

    const late = log.read('a', 1, { waitMs: 20 });
    const left = log.read('a', 1, { waitMs: LONG_MS, signal: leave.signal });
    leave.abort();
    await pass(30);

    for (const reading of [late, left]) expectThat(await reading).equals({ events: [], end: 1 });
    const gone = log.read('a', 1, { waitMs: LONG_MS, signal: AbortSignal.abort() });
    expectThat(await gone).equals({ events: [], end: 1 });
  },
  'readers follow a writer from any offset, and get each event once': async ({ log, reopen }) => {
    await log.append('a', 0, []);
    const reader = await reopen();
    const follow = async (from: number) => {
      const found: unknown[] = [];
      for (let next = from; ; ) {
        const page = await reader.read('a', next, { limit: 7, waitMs: LONG_MS });
        found.push(...(page?.events ?? []));
        next = from + found.length;
        if (page?.outcome !== undefined || page === undefined) return found;
      }
    };

    const followers = [0, 1, 50, 99, 100].map(async (from) => ({ from, found: await follow(from) }));
    for (let first = 0; first < 100; first += 5) await log.append('a', first, numbered(first, 5));
    await log.close('a', 'done');

    for (const { from, found } of await Promise.all(followers)) {
      expectThat(found).equals(logged(from, numbered(from, 100 - from)));
    }
  },
  'the writer learns how long no reader was there': async ({ log, pass, reopen }) => {
    await log.append('a', 0, []);
    await log.append('b', 0, []);
    await pass(50);
    await (await reopen()).touch('a');

    const { unwatchedMs } = await log.append('a', 0, numbered(0, 1));
    const other = await log.append('b', 0, numbered(0, 1));

    expectThat(unwatchedMs).isAtLeast(0);
    // A timer may fire a little early.
    expectThat(other.unwatchedMs).isAtLeast(unwatchedMs + 45);
  },
};
