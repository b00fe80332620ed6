import { expect, test } from 'vitest';
import { Refresher } from '../../../src/mcp/server/refresher.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { until } from '../../support/agent/settle.js';

test('a list that changes whenever it is read is read less and less often, and soon again where it has kept still', async () => {
  const clock = fakeClock();
  let changes = true;
  let reads = 0;
  const refresher = new Refresher(clock, async () => {
    reads += 1;
    if (changes) refresher.request();
  });
  const read = async () => {
    const before = reads;
    clock.advanceToNext();
    await until(() => reads > before);
    await new Promise((resolve) => setImmediate(resolve));
  };

  refresher.request();
  for (let at = 0; at < 7; at++) await read();
  changes = false;
  await read();
  expect(clock.delays).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000]);
  expect(clock.pending()).toBe(0);

  clock.advance(5_000);
  refresher.request();
  refresher.request();
  expect(clock.delays.slice(8)).toEqual([100]);
});
