import type { RunLog, RunLogAnswer } from 'keelson/store';
import { type ContractCase, runLogContract } from 'keelson/testing';
import { MemoryRunLog } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';

const limits = { maxBytes: 100_000, ttlMs: 60_000 };

/** Returns the cases for a memory log with changed methods. */
function casesFor(change: (inner: MemoryRunLog) => Partial<RunLog>, options: object = limits): ContractCase[] {
  const clock = fakeClock(Date.now());
  const open = (): RunLog => {
    const inner = new MemoryRunLog({ ...limits, ...options, clock });
    const { append, read, touch, close, delete: remove } = change(inner);
    return {
      append: append ?? ((...call) => inner.append(...call)),
      read: read ?? ((...call) => inner.read(...call)),
      touch: touch ?? ((run) => inner.touch(run)),
      close: close ?? ((...call) => inner.close(...call)),
      delete: remove ?? ((run) => inner.delete(run)),
    };
  };
  return runLogContract({ ...limits, open, pass: (ms) => clock.advance(ms) });
}

async function failuresOf(cases: readonly ContractCase[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, run } of cases) await run().catch(() => names.push(name));
  return names;
}

type Fault = readonly [change: (inner: MemoryRunLog) => Partial<RunLog>, title: RegExp, options?: object];

const withAnswer = (change: (answer: RunLogAnswer) => object) => (inner: MemoryRunLog) => ({
  append: (...call: Parameters<RunLog['append']>) => {
    const answer = inner.append(...call);
    return { ...answer, ...change(answer) };
  },
});

const faults: Record<string, Fault> = {
  'adds events wherever the writer begins': [
    (inner) => ({ append: (run, _first, events) => inner.append(run, inner.append(run, 0, []).end, events) }),
    /sent again/,
  ],
  'takes any batch before the end for one that was sent again': [
    (inner) => ({
      append: (run, first, events) => {
        const answer = inner.append(run, first, events);
        return first < answer.end ? { ...answer, appended: true } : answer;
      },
    }),
    /other events for a known offset/,
  ],
  'refuses a batch that is sent again': [
    (inner) => ({
      append: (run, first, events) => {
        const { end } = inner.append(run, 0, []);
        const answer = inner.append(run, first, events);
        return first < end ? { ...answer, appended: false } : answer;
      },
    }),
    /sent again/,
  ],
  'begins a log at any offset': [
    (inner) => ({
      append: (run, first, events) => {
        const answer = inner.append(run, first, events);
        return answer.end === 0 && first > 0 ? { ...answer, appended: true } : answer;
      },
    }),
    /leaves out an offset/,
  ],
  'does not tell the writer that the log is closed': [withAnswer(() => ({ outcome: undefined })), /tells its writer/],
  'lets the last close hold': [
    (inner) => ({
      close: (run, outcome) => {
        inner.close(run, outcome);
        return outcome;
      },
    }),
    /first close holds/,
  ],
  'does not close an unknown run': [
    (inner) => ({
      close: async (run, outcome) => ((await inner.read(run, 0)) === undefined ? outcome : inner.close(run, outcome)),
    }),
    /close of an unknown run/,
  ],
  'gives the outcome before the end': [
    (inner) => ({
      read: async (run, from, query) => {
        const page = await inner.read(run, from, query);
        return page && { ...page, outcome: (await inner.read(run, page.end))?.outcome };
      },
    }),
    /reaches the end/,
  ],
  'does not wait': [
    (inner) => ({ read: (run, from, query) => inner.read(run, from, { ...query, waitMs: 0 }) }),
    /waits gets the events/,
  ],
  'ignores the limit of a page': [
    (inner) => ({ read: (run, from, query) => inner.read(run, from, { ...query, limit: 1_000 }) }),
    /pages of any size/,
  ],
  'leaves out events that are gone': [
    (inner) => ({
      read: (run, from, query) => inner.read(run, from, query).catch(({ first }) => inner.read(run, first, query)),
    }),
    /oldest events of a full log/,
  ],
  'never lets events go': [() => ({}), /oldest events of a full log/, { maxBytes: 10_000_000 }],
  'forgets who watched': [() => ({ touch: () => {} }), /no reader was there/],
  'keeps a log for ever': [() => ({}), /expires/, { ttlMs: 1_000_000_000 }],
  'keeps a log that is touched': [
    (inner) => ({ touch: (run) => void inner.append(run, 1, []) }),
    /restarts the lifetime/,
  ],
  'forgets to delete': [() => ({ delete: () => {} }), /deleted log/],
  'ignores the case of ids': [
    (inner) => ({ append: (run, first, events) => inner.append(run.toLowerCase(), first, events) }),
    /similar ids/,
  ],
};

describe('runLogContract', () => {
  test.each(Object.entries(faults))('finds a log that %s', async (_fault, [change, title, options]) => {
    expect(await failuresOf(casesFor(change, options))).toEqual(expect.arrayContaining([expect.stringMatching(title)]));
  });

  test('has cases with different names, and cases of expiry only with `ttlMs`', () => {
    const open = () => new MemoryRunLog();
    const names = runLogContract({ open }).map(({ name }) => name);
    const more = runLogContract({ open, ttlMs: 100 }).map(({ name }) => name);

    expect(new Set(more).size).toBe(more.length);
    expect(more.length - names.length).toBe(2);
  });

  test('needs no clock to move, and no second log', async () => {
    const open = () => new MemoryRunLog({ maxBytes: 100_000 });

    expect(await failuresOf(runLogContract({ open, maxBytes: 100_000 }))).toEqual([]);
  });
});
