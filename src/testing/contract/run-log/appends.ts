import { type CaseTable, ODD_STRINGS } from '../contract-case.js';
import { anyNumber, expectThat } from '../expect-that.js';
import { logged, numbered, type RunLogSubject } from './subject.js';

export const appendCases: CaseTable<RunLogSubject> = {
  'events have offsets from 0 on, and are read in order': async ({ log }) => {
    expectThat(await log.append('a', 0, numbered(0, 2))).equals({ appended: true, end: 2, unwatchedMs: anyNumber });
    expectThat(await log.append('a', 2, numbered(2, 3))).equals({ appended: true, end: 5, unwatchedMs: anyNumber });

    expectThat(await log.read('a', 0)).equals({ events: logged(0, numbered(0, 5)), end: 5 });
  },
  'an append that leaves out an offset is refused': async ({ log }) => {
    await log.append('a', 0, numbered(0, 2));

    expectThat(await log.append('a', 3, numbered(3, 1))).matches({ appended: false, end: 2 });
    expectThat(await log.append('unknown', 1, numbered(1, 1))).matches({ appended: false, end: 0 });

    expectThat(await log.read('a', 0)).equals({ events: logged(0, numbered(0, 2)), end: 2 });
    expectThat(await log.read('unknown', 0)).equals(undefined);
  },
  'an append with other events for a known offset is refused, and changes nothing': async ({ log }) => {
    await log.append('a', 0, numbered(0, 3));

    for (const events of [numbered(7, 1), numbered(7, 5), [...numbered(1, 1), ...numbered(7, 3)]]) {
      expectThat(await log.append('a', 1, events)).matches({ appended: false, end: 3 });
    }

    expectThat(await log.read('a', 0)).equals({ events: logged(0, numbered(0, 3)), end: 3 });
  },
  'only one of many concurrent writers of an offset succeeds': async ({ log, reopen }) => {
    await log.append('a', 0, numbered(0, 1));
    const other = await reopen();

    const writers = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? log : other));
    const answers = await Promise.all(writers.map((writer, at) => writer.append('a', 1, [`${at}`])));

    expectThat(answers.filter(({ appended }) => appended)).hasLength(1);
    const winner = answers.findIndex(({ appended }) => appended);
    expectThat(await log.read('a', 1)).matches({ events: logged(1, [`${winner}`]) });
  },
  'a batch that is sent again is added once, also with more events, and is answered as added': async ({ log }) => {
    await log.append('a', 0, numbered(0, 2));

    for (const _again of [1, 2])
      expectThat(await log.append('a', 2, numbered(2, 2))).matches({ appended: true, end: 4 });
    expectThat(await log.append('a', 2, numbered(2, 5))).matches({ appended: true, end: 7 });
    expectThat(await log.append('a', 0, numbered(0, 1))).matches({ appended: true, end: 7 });

    expectThat(await log.read('a', 0)).equals({ events: logged(0, numbered(0, 7)), end: 7 });
  },
  'an append without events makes the log, and later tells how it stands': async ({ log }) => {
    expectThat(await log.append('a', 0, [])).matches({ appended: true, end: 0 });
    expectThat(await log.read('a', 0)).equals({ events: [], end: 0 });
    await log.append('a', 0, numbered(0, 2));
    expectThat(await log.append('a', 2, [])).matches({ appended: true, end: 2 });
    await log.close('a', 'done');

    expectThat(await log.append('a', 2, [])).matches({ end: 2, outcome: 'done' });
  },
  'events keep any JSON, and a lone surrogate becomes U+FFFD': async ({ log }) => {
    const events = ['ü 🎉 \0 \n " \\ \\u0000', null, [1.5, [], {}], { '': true, 'a:b': { ü: -1 } }];
    await log.append('a', 0, [...events, 'a\ud83d']);

    expectThat(await log.read('a', 0)).matches({ events: logged(0, [...events, 'a\uFFFD']) });
  },
  'runs with similar ids keep apart': async ({ log }) => {
    const all = [...ODD_STRINGS, ''];
    for (const run of all) await log.append(run, 0, [run.length, all.indexOf(run)]);

    for (const run of all) {
      expectThat(await log.read(run, 0)).matches({ events: logged(0, [run.length, all.indexOf(run)]) });
    }
  },
};
