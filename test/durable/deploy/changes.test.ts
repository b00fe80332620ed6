import { isFinalError, type JournalEntry, memoryStep, ReplayMismatchError } from 'keelson/durable';
import { describe, expect, test } from 'vitest';
import { gate, until } from '../../support/agent/settle.js';
import { CELLS, CHANGES, type Change, type Point, runOrder, versionOf } from '../../support/durable/deploy/changes.js';
import { approveAll } from '../../support/durable/errand.js';

type Journal = readonly (JournalEntry | undefined)[];

/** Runs a version on a journal up to its end. Returns the work that it did. */
async function continued(version: Change['after'], journal: Journal) {
  const works: string[] = [];
  const step = memoryStep({ journal });
  const agent = versionOf(step, version, (what) => works.push(what));
  const outcome = await runOrder(agent, version, approveAll).catch((error: unknown) => error);
  await agent.close();
  return { outcome, works, journal: step.journal };
}

/** Runs a version on a journal until it waits for an approval. Returns the journal, or undefined if it did not wait. */
async function toApproval(version: Change['after'], before: Journal = []): Promise<Journal | undefined> {
  const step = memoryStep({ journal: before });
  const agent = versionOf(step, version, () => {});
  const { status } = await agent.run('Order.');
  await agent.close();
  return status === 'suspended' ? JSON.parse(JSON.stringify(step.journal)) : undefined;
}

/** Runs a version until it stops. Returns the journal that the process leaves. */
async function stopped(version: Change['before'], point: Point): Promise<Journal> {
  if (point === 'at an approval') return (await toApproval(version)) as Journal;
  const mail = gate();
  const step = memoryStep();
  const agent = versionOf(step, version, (what) => (what === 'mail' ? mail.pass() : undefined));
  const running = agent.run('Order.').catch(() => {});
  await until(() => mail.arrived > 0);
  const journal = JSON.parse(JSON.stringify(step.journal));
  await agent.close();
  await running;
  return journal;
}

describe('a new version of the program', () => {
  test.each(CELLS.filter(({ refused }) => refused === undefined))(
    'goes on with a run that was stopped $point: $what',
    async ({ before, after, point }) => {
      const journal = await stopped(before, point);

      const { outcome, works } = await continued(after, journal);

      expect(outcome).toMatchObject({ status: 'completed', text: '{"isDone":true}' });
      const stored = point === 'in a tool' ? ['model 1', 'search', 'note', 'model 2'] : ['model 3', 'mail'];
      expect(works.filter((what) => stored.includes(what))).toEqual([]);
      expect(new Set(works).size).toBe(works.length);
    },
  );

  test.each(CELLS.filter(({ refused }) => refused !== undefined))(
    'is refused for a run that was stopped $point, which goes on after a rollback: $what',
    async ({ before, after, point, refused }) => {
      const journal = await stopped(before, point);

      const attempt = await continued(after, journal);

      const { cause } = attempt.outcome as { cause?: unknown };
      expect(cause).toBeInstanceOf(ReplayMismatchError);
      expect(cause).toMatchObject({ part: refused, stored: expect.any(String) });
      expect(isFinalError(attempt.outcome)).toBe(false);
      expect(attempt.works).toEqual([]);
      expect(attempt.journal).toEqual(journal);
      const { outcome } = await continued(before, attempt.journal);
      expect(outcome).toMatchObject({ status: 'completed' });
    },
  );

  test.each(CHANGES.filter(({ refused }) => refused === undefined))(
    'may be rolled back after it has gone on: $what',
    async ({ before, after }) => {
      const journal = await toApproval(after, await stopped(before, 'in a tool'));
      if (journal === undefined) return;

      const { outcome, works } = await continued(before, journal);

      expect(outcome).toMatchObject({ status: 'completed', text: '{"isDone":true}' });
      expect(works).toEqual(['pay', 'model 4']);
    },
  );
});
