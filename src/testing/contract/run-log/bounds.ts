import type { RunLogGoneError } from '../../../state/run-log/run-log.js';
import type { CaseTable } from '../contract-case.js';
import { anyNumber, expectFailure, expectThat } from '../expect-that.js';
import { logged, numbered, type RunLogExpirySubject, type RunLogSubject } from './subject.js';

const ofSize = (bytes: number) => 'x'.repeat(bytes - 2);

export const boundCases: CaseTable<RunLogSubject> = {
  'the oldest events of a full log are gone, with an error that names the first left': async ({ log, maxBytes }) => {
    await log.append('a', 0, []);
    const event = ofSize(Math.floor(maxBytes / 4));
    for (let first = 0; first < 9; first += 1) await log.append('a', first, [event]);

    await expectFailure(() => log.read('a', 0), { code: 'ERR_RUN_LOG_GONE', run: 'a', from: 0, first: anyNumber });
    const { first } = (await Promise.resolve(log.read('a', 0)).catch((error: unknown) => error)) as RunLogGoneError;

    expectThat(first).isAtLeast(5);
    expectThat(first).isAtMost(8);
    await expectFailure(() => log.read('a', first - 1), { code: 'ERR_RUN_LOG_GONE', first });
    const events = Array.from({ length: 9 - first }, () => event);
    expectThat(await log.read('a', first)).equals({ events: logged(first, events), end: 9 });
    expectThat(await log.append('a', first - 1, [event, event])).matches({ appended: true, end: 9 });
    expectThat(await log.append('a', 0, [event])).matches({ appended: false, end: 9 });
  },
  'the newest event stays, also if it is larger than the log may be': async ({ log, maxBytes }) => {
    await log.append('a', 0, numbered(0, 2));
    const large = [ofSize(100), ofSize(maxBytes + 1)];

    for (const _again of [1, 2]) expectThat(await log.append('a', 2, large)).matches({ appended: true, end: 4 });

    await expectFailure(() => log.read('a', 2), { code: 'ERR_RUN_LOG_GONE', first: 3 });
    expectThat(await log.read('a', 3)).equals({ events: logged(3, large.slice(1)), end: 4 });
    await log.append('a', 4, numbered(4, 2));
    expectThat(await log.read('a', 4)).matches({ events: logged(4, numbered(4, 2)) });
  },
  'many events in one append are read back': async ({ log, maxBytes }) => {
    const count = Math.min(20_000, Math.floor(maxBytes / 50));
    await log.append('a', 0, numbered(0, count));

    expectThat(await log.read('a', 0, { limit: count })).equals({ events: logged(0, numbered(0, count)), end: count });
  },
};

export const expiryCases: CaseTable<RunLogExpirySubject> = {
  'a log expires after its last append, and its run is then unknown': async ({ log, pass, ttlMs }) => {
    await log.append('a', 0, numbered(0, 2));
    await pass(ttlMs * 1.2);

    expectThat(await log.append('a', 2, numbered(2, 1))).matches({ appended: false, end: 0 });
    expectThat(await log.read('a', 0)).equals(undefined);
    expectThat(await log.close('a', 'lost')).equals('lost');
    expectThat(await log.read('a', 0)).equals({ events: [], end: 0, outcome: 'lost' });
  },
  'each append restarts the lifetime, also one without events, and the close does': async ({ log, pass, ttlMs }) => {
    await log.append('a', 0, numbered(0, 1));
    for (const run of ['b', 'c']) await log.append(run, 0, numbered(0, 1));

    await pass(ttlMs * 0.6);
    await log.append('a', 1, []);
    await log.close('b', 'done');
    await log.touch('c');
    await pass(ttlMs * 0.6);

    expectThat(await log.read('a', 0)).matches({ events: logged(0, numbered(0, 1)) });
    expectThat(await log.read('b', 0)).matches({ outcome: 'done' });
    expectThat(await log.read('c', 0)).equals(undefined);
  },
};
