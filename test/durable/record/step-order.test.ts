import { HookAction } from 'keelson';
import { type MemoryStep, memoryStep } from 'keelson/durable';
import { calls } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { StepOrder } from '../../../src/durable/record/step-order.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { pause, until } from '../../support/agent/settle.js';
import { twice } from '../../support/durable/attempts.js';
import { twoAgents } from '../../support/durable/two-agents.js';

async function attempt(journal: MemoryStep['journal'] = []) {
  const step = memoryStep({ journal });
  const works: string[] = [];
  return { results: await twoAgents(step, (key) => works.push(key)), works, journal: step.journal };
}

describe('the order of the results of parallel steps', () => {
  test('a replay of two agents at once begins their steps in the same order', async () => {
    const first = await attempt();

    const replay = await attempt(first.journal);

    expect(replay).toEqual({ ...first, works: [] });
  });

  test('a crash of two agents at once: the next attempt runs only the steps that were not stored', async () => {
    const first = await attempt();
    for (let stored = 1; stored < first.journal.length; stored += 1) {
      const journal = first.journal.slice(0, stored);
      const next = await attempt(journal);

      expect(next.results, `${stored} steps`).toEqual(first.results);
      const keys = journal.map((entry) => entry?.key);
      expect(
        next.works.filter((key) => keys.includes(key)),
        `${stored} steps`,
      ).toEqual([]);
    }
  });

  test('a tool that ends the run leaves the results that were there before it, also on a replay', async () => {
    const early = toolOf('early', () => 'early');
    const ends = toolOf('ends', async (_input, { run }) => {
      await pause();
      return run.end(HookAction.respond('That is all.'));
    });
    const { first, replay } = await twice(() => ({
      script: [calls({ name: 'early' }, { name: 'ends' })],
      tools: [early, ends],
    }));

    expect(JSON.stringify(first.outcome.history)).toContain('"name":"early","content":"early"');
    expect(replay.outcome).toEqual(first.outcome);
  });
});

describe('StepOrder', () => {
  test('gives results by their numbers, and waits for steps that the engine has not answered', async () => {
    const order = new StepOrder();
    const given: string[] = [];
    const give = (name: string, turn: Promise<void> | undefined) => turn?.then(() => given.push(name));
    const [late, early, open] = [order.begin(), order.begin(), order.begin()];
    void give('late', order.turn(late, 7));
    void give('early', order.turn(early, 4));
    await pause();
    expect(given).toEqual([]);

    order.run(open);
    await until(() => given.length === 2);
    expect(given).toEqual(['early', 'late']);
    expect(order.number(open)).toBe(8);
    await order.turn(open, 8);
  });

  test('passes on the result of the only open step at once', () => {
    const order = new StepOrder();

    expect(order.turn(order.begin(), 1)).toBeUndefined();
  });

  test('passes results on at once if the engine keeps their order', () => {
    const order = new StepOrder(true);
    const [, late, early] = [order.begin(), order.begin(), order.begin()];

    expect(order.turn(late, 7)).toBeUndefined();
    expect(order.turn(early, 4)).toBeUndefined();
  });

  test('a step that fails holds up no other', async () => {
    const order = new StepOrder();
    const [fails, waits] = [order.begin(), order.begin()];
    const turn = order.turn(waits, 1);
    order.leave(fails);

    await expect(turn).resolves.toBeUndefined();
  });
});
