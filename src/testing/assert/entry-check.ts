import { DELAYED_ENTRY } from '../trial/observed-lifecycle.js';
import { SCENARIOS } from '../trial/scenarios.js';
import type { Scenario } from '../trial/trial.js';
import type { Bench } from './bench.js';
import { createCountedSignal } from './listener-count.js';
import { pause } from './time-limit.js';

const RUN_MS = 5;
const HELD_MS = 20;

/**
 * Ends runs while an asynchronous `beforeAgent` is pending, by an abort and by a time limit. Reports an `onError` that
 * is not called once after `beforeAgent` has returned.
 */
export async function checkEntry(bench: Bench): Promise<void> {
  const abort = createCountedSignal();
  await endEarly(bench, { ...scenarioOf('aborted'), abort }, () => {
    void pause(1).then(() => abort.abort('aborted by the trial'));
  });
  await endEarly(bench, { ...scenarioOf('timed out'), timeouts: { runMs: RUN_MS } }, () => {});
}

function scenarioOf(ending: string): Scenario {
  return { ...SCENARIOS.answer(), name: `a run that is ${ending} while beforeAgent is pending` };
}

async function endEarly({ trial, report }: Bench, scenario: Scenario, end: () => void): Promise<void> {
  const { observer } = trial;
  if (observer?.lifecycle.beforeAgent === undefined) return;
  let hasReturned = false;
  let errors = 0;
  observer.onStep = (step) => {
    if (step === 'onError') errors += 1;
    if (step === DELAYED_ENTRY) hasReturned = true;
  };
  observer.holdEntry = () => {
    end();
    return pause(HELD_MS);
  };
  await trial.run(scenario);
  observer.holdEntry = undefined;
  observer.onStep = () => {};
  if (!hasReturned || observer.lifecycle.onError === undefined || errors === 1) return;
  report(`onError must be called once after beforeAgent has returned, but was called ${errors} times`);
}
