import { expect, test, vi } from 'vitest';
import { Stop } from '../../src/internal/stop.js';
import { hookRunOf, isAside, RunEnd } from '../../src/lifecycle/hook-run.js';

test('a run whose signal is first read after its end does not listen to the agent', () => {
  const agentStop = new Stop();
  const end = new RunEnd(agentStop);
  end.finish();
  const listening = vi.spyOn(agentStop, 'onStop');

  end.stopper();

  expect(listening).not.toHaveBeenCalled();
});

test('a copy of this module, as each entry of the package has one, finds a run by the same keys', () => {
  const run = {};

  expect(hookRunOf({ [Symbol.for('keelson.run')]: run })).toBe(run);
  expect([{ [Symbol.for('keelson.aside')]: true }, {}].map(isAside)).toEqual([true, false]);
});
