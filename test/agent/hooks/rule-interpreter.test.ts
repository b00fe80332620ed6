import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Case, Outcome, ThreadAct, WrapAct } from '../../support/agent/oracle/case.js';
import { predict } from '../../support/agent/oracle/oracle.js';
import { play } from '../../support/agent/oracle/play.js';

const threadAct = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom<ThreadAct>('passes', 'continues', 'changes', 'approves', 'adds', 'compacts'),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<ThreadAct>(
      'throws',
      'hangs',
      'is wrong',
      'rejects',
      'responds',
      'suspends',
      'suspends',
      'ends well',
      'ends badly',
    ),
  },
);
const wrapAct = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.constantFrom<WrapAct>(
      'hands on',
      'calls twice',
      'changes what goes in',
      'changes what comes out',
      'answers itself',
      'denies',
      'recovers',
      'replaces a failure',
      'adds',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<WrapAct>(
      'throws before',
      'throws after',
      'hangs before',
      'hangs after',
      'is wrong',
      'suspends',
      'ends well',
      'ends badly',
    ),
  },
);
const acts = <T>(act: fc.Arbitrary<T>) => fc.option(fc.array(act, { minLength: 1, maxLength: 3 }), { nil: undefined });
const part = fc.record({
  priority: fc.constantFrom(10, 50, 90),
  onFailure: fc.constantFrom('throw', 'continue', 'block' as const),
  isTimed: fc.boolean(),
  acts: fc.record({
    beforeAgent: acts(threadAct),
    beforeModel: acts(threadAct),
    beforeToolSelection: acts(threadAct),
    wrapModelCall: acts(wrapAct),
    afterModel: acts(threadAct),
    wrapToolCall: acts(wrapAct),
    afterAgent: acts(threadAct),
  }),
});
const step = fc.oneof(fc.constantFrom('fails', 'says' as const), {
  weight: 3,
  arbitrary: fc.record({
    calls: fc.array(fc.constantFrom('a', 'b', 'c', 'missing'), { minLength: 1, maxLength: 3 }),
    cut: fc.boolean(),
  }),
});
const scenario: fc.Arbitrary<Case> = fc.record({
  parts: fc.array(part, { maxLength: 3 }).map((parts) => parts.map((it, at) => ({ ...it, name: `p${at}` }))),
  script: fc.array(step, { maxLength: 4 }),
  maxTurns: fc.integer({ min: 1, max: 4 }),
  parallel: fc.constantFrom(false, true, 2),
  lastWord: fc.boolean(),
  runs: fc.array(fc.record({ input: fc.boolean(), approved: fc.array(fc.boolean(), { minLength: 1, maxLength: 3 }) }), {
    minLength: 1,
    maxLength: 3,
  }),
  inSession: fc.boolean(),
});

it('with random hooks, models and callers, runs have exactly the events that the oracle predicts', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, fc.array(fc.boolean(), { minLength: 1, maxLength: 7 }), async (given, lates) => {
      let at = 0;
      const real = await play(given, () => lates[at++ % lates.length] === true);
      const told = predict(given);
      const compared = given.parallel === false ? settledPart : inAnyOrder;
      const race = given.parallel === false ? -1 : told.findIndex(isRace);
      const upTo = race === -1 ? told.length : race;
      expect(real.slice(0, upTo).map(compared)).toEqual(told.slice(0, upTo).map(compared));
    }),
    { numRuns: 300 },
  );
}, 30_000);

/** After a tool hook has ended the run, all calls have results, so later actions of wrap hooks have no effect. */
function settledPart({ log, decisions, ...rest }: Outcome): Outcome {
  const end = log.findIndex((line) => line.includes('run.end at end'));
  const isOfCalls = (line: string) => line.includes('wrapToolCall');
  const ended = decisions.findIndex((line) => line.includes('run.end at end'));
  return {
    ...rest,
    log: log.filter((line, at) => end === -1 || at < end || !isOfCalls(line)),
    decisions: decisions.filter((line, at) => ended === -1 || at < ended || !isOfCalls(line)),
  };
}

/** Returns true if parallel calls race: one call ends the run, so the progress of the others is unpredictable. */
function isRace({ log, end }: Outcome): boolean {
  const ended = log.findIndex((line) => line.includes('run.end at end'));
  return end.endsWith('at wrapToolCall') || (ended !== -1 && /wrapToolCall>$/.test(log[ended - 1] ?? ''));
}

/** Removes the order of the events, which parallel calls make unpredictable. */
function inAnyOrder(outcome: Outcome): Outcome {
  const { log, decisions, messages, history, stored, ...rest } = settledPart(outcome);
  const calm = (lines: readonly string[]) => {
    const added = lines.filter((line) => line.endsWith(' adds')).sort();
    return lines.map((line) => (line.endsWith(' adds') ? (added.shift() ?? '') : line));
  };
  return {
    ...{ ...rest, log: [...log].sort(), decisions: [...decisions].sort() },
    ...{ messages: calm(messages), history: calm(history), stored: calm(stored) },
  };
}
