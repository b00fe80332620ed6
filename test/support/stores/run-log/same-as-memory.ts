import fc from 'fast-check';
import type { RunLog, RunOutcome } from 'keelson/store';
import { MemoryRunLog } from 'keelson/ui';
import { expect } from 'vitest';
import type { Awaitable } from '../../../../src/internal/promise.js';
import { fakeClock } from '../../agent/fake-clock.js';

/** The limits of the compared logs. One to five events fill a log, and one is larger. */
export const comparedLimits = { maxBytes: 20, ttlMs: 600_000 };
/** A log of PostgreSQL lives up to 1 % longer, so no sum of these pauses lies just beyond the lifetime. */
const pauses = fc.constantFrom(0, 0, 0, 0, 0, 70_000, 350_000);

/** A log without runs, with a clock that stands still until `pass` moves it. */
export interface ComparedLog {
  readonly log: RunLog;
  pass(ms: number): Awaitable<void>;
}

type Step = (log: RunLog) => Awaitable<unknown>;

const run = fc.constantFrom('a', 'b');
const offset = fc.integer({ min: 0, max: 8 });
const events = fc.array(fc.constantFrom('x', 'üüü', 'a long event', 'an event that is too long'), { maxLength: 3 });
const outcome = fc.constantFrom<RunOutcome>('done', 'lost');
const limit = fc.integer({ min: 1, max: 4 });

/** Adds events at the end, `back` offsets before it, or behind it. */
const atEnd = fc.tuple(run, events, fc.integer({ min: -1, max: 3 })).map(([id, added, back]): Step => {
  return async (log) => {
    const { end } = await log.append(id, 0, []);
    return log.append(id, Math.max(0, end - back), added);
  };
});
const again = fc.tuple(run, events, events).map(([id, first, more]): Step => {
  return async (log) => {
    const { end } = await log.append(id, 0, first);
    return [await log.append(id, end, more), await log.append(id, end, [...more, ...first])];
  };
});
const steps: fc.Arbitrary<Step> = fc.oneof(
  atEnd,
  again,
  fc.tuple(run, offset, events).map(
    ([id, first, added]): Step =>
      (log) =>
        log.append(id, first, added),
  ),
  fc.tuple(run, offset, limit).map(
    ([id, from, most]): Step =>
      (log) =>
        log.read(id, from, { limit: most }),
  ),
  run.map(
    (id): Step =>
      (log) =>
        log.touch(id),
  ),
  fc.tuple(run, outcome).map(
    ([id, how]): Step =>
      (log) =>
        log.close(id, how),
  ),
  run.map(
    (id): Step =>
      (log) =>
        log.delete(id),
  ),
);
const sequences = fc.array(fc.tuple(steps, pauses), { minLength: 1, maxLength: 40 });

/** Checks that a log gives the answers of the memory log to any sequence of calls. */
export async function checkSameLogAsMemory(open: () => Awaitable<ComparedLog>, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(sequences, async (given) => {
    const clock = fakeClock(Date.now());
    const memory = { log: new MemoryRunLog({ ...comparedLimits, clock }), pass: clock.advance };
    expect(await answersOf(await open(), given)).toEqual(await answersOf(memory, given));
  });
  await fc.assert(property, { numRuns });
}

async function answersOf({ log, pass }: ComparedLog, given: readonly [Step, number][]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const [step, wait] of given) {
    if (wait > 0) await pass(wait);
    const answer = Promise.resolve(step(log)).catch(({ code, from, first }) => ({ code, from, first }));
    answers.push((await answer) ?? null);
  }
  return answers;
}
