import { MemoryRunLog } from 'keelson/ui';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../support/agent/fake-clock.js';
import { testRunLog } from '../support/state/run-log-contract.js';

const clock = fakeClock(Date.now());
testRunLog('MemoryRunLog', {
  open: () => new MemoryRunLog({ clock, maxBytes: 100_000, ttlMs: 60_000 }),
  pass: (ms) => clock.advance(ms),
  maxBytes: 100_000,
  ttlMs: 60_000,
});

describe('MemoryRunLog', () => {
  test('returns events of its own, so nobody can change those that are kept', async () => {
    const log = new MemoryRunLog();
    const event = { list: ['a'] };
    log.append('a', 0, [event]);
    event.list.push('b');
    const { events: [found] = [] } = (await log.read('a', 0)) ?? {};
    Object.assign(found?.event ?? {}, { list: [] });

    expect((await log.read('a', 0))?.events).toEqual([{ offset: 0, event: { list: ['a'] } }]);
  });

  test('keeps 8 MiB for an hour by default', async () => {
    const own = fakeClock();
    const log = new MemoryRunLog({ clock: own });
    const megabyte = 'x'.repeat(1024 * 1024 - 2);
    for (let first = 0; first < 9; first += 1) log.append('a', first, [megabyte]);
    await expect(log.read('a', 0)).rejects.toMatchObject({ code: 'ERR_RUN_LOG_GONE', first: 1 });

    own.advance(3_600_000 - 1);
    expect(await log.read('a', 1, { limit: 1 })).toMatchObject({ end: 9 });
    own.advance(1);
    expect(await log.read('a', 1)).toBe(undefined);
  });

  test('has no timer after a read that waited', async () => {
    const own = fakeClock();
    const log = new MemoryRunLog({ clock: own });
    log.append('a', 0, []);

    const reading = log.read('a', 0, { waitMs: 1_000 });
    await expect.poll(() => own.pending()).toBe(1);
    log.append('a', 0, ['x']);

    expect((await reading)?.events).toHaveLength(1);
    expect(own.pending()).toBe(0);
  });

  test('ends a read that waits when the log is deleted', async () => {
    const log = new MemoryRunLog();
    log.append('a', 0, []);
    const reading = log.read('a', 0, { waitMs: 60_000 });
    log.delete('a');

    expect(await reading).toBe(undefined);
  });

  test('refuses invalid offsets, queries, and events that are not JSON', async () => {
    const log = new MemoryRunLog();
    log.append('a', 0, ['x']);

    for (const offset of [-1, 0.5, Number.NaN, '0' as never]) {
      expect(() => log.append('a', offset, [])).toThrow('`first` must be a whole number of 0 or more, got');
      await expect(log.read('a', offset)).rejects.toThrow('`from` must be a whole number of 0 or more, got');
    }
    await expect(log.read('a', 1, { limit: 0 })).rejects.toThrow('`limit` must be a whole number of 1 or more, got 0');
    await expect(log.read('a', 1, { waitMs: Number.NaN })).rejects.toThrow('`waitMs` must be 0 milliseconds or more');
    for (const event of [undefined, () => 1, 1n]) {
      expect(() => log.append('a', 1, ['y', event as never])).toThrow(
        '`events[1]` must be a value that JSON can represent, got',
      );
    }
    expect(await log.read('a', 0)).toMatchObject({ end: 1 });
  });

  test.each<[object, string]>([
    [{ maxBytes: 0 }, '`maxBytes` must be a whole number of 1 or more, got 0'],
    [{ ttlMs: 1.5 }, '`ttlMs` must be a whole number of milliseconds from 1 to 2147483647, got 1.5'],
    [{ maxByte: 5 }, 'unknown option `maxByte`; did you mean `maxBytes`?'],
  ])('refuses the options %j', (options, message) => {
    expect(() => new MemoryRunLog(options)).toThrow(message);
  });
});
