import { expect, test } from 'vitest';
import { ActiveRuns } from '../../../src/ui/handler/active-runs.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';

test('lets the next run of a session enter when the active run has left', async () => {
  const runs = new ActiveRuns(1_000, manualClock());
  const first = await runs.enter('a');
  const order: string[] = [];
  const second = runs.enter('a').then((run) => {
    order.push('second entered');
    return run;
  });
  order.push('first leaves');
  first.leave();

  (await second).leave();
  await first.ended;

  expect(order).toEqual(['first leaves', 'second entered']);
  await expect.poll(() => runs.has('a')).toBe(false);
});

test('refuses a run that has waited for queueMs, and then lets the next one enter', async () => {
  const clock = manualClock();
  const runs = new ActiveRuns(1_000, clock);
  const first = await runs.enter('a');
  const second = runs.enter('a');
  const refused = expect(second).rejects.toMatchObject({ code: 'ERR_UI_SESSION_BUSY', timeoutMs: 1_000 });
  await clock.advance(1_000);
  await refused;

  const third = runs.enter('a');
  first.leave();

  (await third).leave();
  expect(clock.waiting).toBe(0);
});

test('refuses at once if queueMs is 0', async () => {
  const runs = new ActiveRuns(0, manualClock());
  const first = await runs.enter('a');

  await expect(runs.enter('a')).rejects.toMatchObject({ code: 'ERR_UI_SESSION_BUSY' });
  first.leave();
});

test('refuses a request while eight others wait', async () => {
  const runs = new ActiveRuns(1_000, manualClock());
  const first = await runs.enter('a');
  const waiting = Array.from({ length: 8 }, () => runs.enter('a'));

  await expect(runs.enter('a')).rejects.toMatchObject({ code: 'ERR_UI_SESSION_BUSY' });
  first.leave();
  for (const run of waiting) (await run).leave();
});

test('does not let sessions wait for each other', async () => {
  const runs = new ActiveRuns(0, manualClock());

  const [a, b] = await Promise.all([runs.enter('a'), runs.enter('b')]);

  expect([runs.has('a'), runs.has('b'), runs.has('c')]).toEqual([true, true, false]);
  a.leave();
  b.leave();
});

test('stops the active run, and resolves when the run has left', async () => {
  const runs = new ActiveRuns(1_000, manualClock());
  const first = await runs.enter('a');
  first.abort.signal.addEventListener('abort', () => first.leave(), { once: true });

  expect(await runs.stop('a')).toBe(true);
  expect(await runs.stop('a')).toBe(false);
});
