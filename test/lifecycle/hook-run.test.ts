import { expect, test, vi } from 'vitest';
import { Stop } from '../../src/internal/stop.js';
import { RunEnd } from '../../src/lifecycle/hook-run.js';

test('a run whose signal is first read after its end does not listen to the agent', () => {
  const agentStop = new Stop();
  const end = new RunEnd(agentStop);
  end.finish();
  const listening = vi.spyOn(agentStop, 'onStop');

  end.stopper();

  expect(listening).not.toHaveBeenCalled();
});
