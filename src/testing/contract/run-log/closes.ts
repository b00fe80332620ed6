import type { CaseTable } from '../contract-case.js';
import { expectThat } from '../expect-that.js';
import { logged, numbered, type RunLogSubject } from './subject.js';

export const closeCases: CaseTable<RunLogSubject> = {
  'the first close holds, and each close returns its outcome': async ({ log, reopen }) => {
    await log.append('a', 0, numbered(0, 1));
    const other = await reopen();

    const outcomes = await Promise.all([log.close('a', 'done'), other.close('a', 'lost'), log.close('a', 'stopped')]);

    expectThat(new Set(outcomes).size).equals(1);
    expectThat(await other.close('a', 'failed')).equals(outcomes[0]);
    expectThat(await log.read('a', 0)).matches({ outcome: outcomes[0] });
  },
  'a closed log refuses events, tells its writer, and keeps what it has': async ({ log, reopen }) => {
    await log.append('a', 0, numbered(0, 3));
    await (await reopen()).close('a', 'lost');

    const closed = { end: 3, outcome: 'lost' };
    expectThat(await log.append('a', 3, numbered(3, 1))).matches({ ...closed, appended: false });
    expectThat(await log.append('a', 2, numbered(2, 2))).matches({ ...closed, appended: false });
    expectThat(await log.append('a', 1, numbered(1, 2))).matches({ ...closed, appended: true });

    expectThat(await log.read('a', 0)).equals({ events: logged(0, numbered(0, 3)), end: 3, outcome: 'lost' });
  },
  'only the page that reaches the end of a closed log has the outcome': async ({ log }) => {
    await log.append('a', 0, numbered(0, 3));
    await log.close('a', 'done');

    expectThat(await log.read('a', 0, { limit: 2 })).equals({ events: logged(0, numbered(0, 2)), end: 3 });
    expectThat(await log.read('a', 2, { limit: 2 })).matches({ outcome: 'done' });
    expectThat(await log.read('a', 3)).equals({ events: [], end: 3, outcome: 'done' });
  },
  'a close of an unknown run makes a closed log, so a late writer is refused': async ({ log }) => {
    expectThat(await log.close('a', 'lost')).equals('lost');

    expectThat(await log.append('a', 0, numbered(0, 1))).matches({ appended: false, end: 0, outcome: 'lost' });
    expectThat(await log.read('a', 0)).equals({ events: [], end: 0, outcome: 'lost' });
  },
  'a deleted log is unknown, and its writer cannot go on': async ({ log }) => {
    await log.append('a', 0, numbered(0, 2));
    await log.append('b', 0, numbered(0, 1));
    await log.delete('a');

    expectThat(await log.read('a', 0)).equals(undefined);
    expectThat(await log.append('a', 2, numbered(2, 1))).matches({ appended: false, end: 0 });
    expectThat(await log.append('a', 0, numbered(5, 1))).matches({ appended: true, end: 1 });
    expectThat(await log.read('a', 0)).equals({ events: logged(0, numbered(5, 1)), end: 1 });
    expectThat(await log.read('b', 0)).equals({ events: logged(0, numbered(0, 1)), end: 1 });
  },
};
