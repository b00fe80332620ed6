import { calls, hangs, type ScriptEntry, streams } from '../script/step.js';
import { DELAYED_ENTRY } from '../trial/observed-lifecycle.js';
import { SCENARIOS, sequence } from '../trial/scenarios.js';
import type { Scenario } from '../trial/trial.js';
import type { Bench } from './bench.js';
import { type CountedSignal, createCountedSignal } from './listener-count.js';
import { pause } from './time-limit.js';

const REASON = 'aborted by the trial';
const RUN_MS = 5;
/** How long `beforeAgent` is held. */
const HELD_MS = 20;

/** Aborts runs while each kind of step is pending, and at every hook of the lifecycle. */
export async function checkAbort(bench: Bench): Promise<void> {
  const before = createCountedSignal();
  before.abort(REASON);
  await expectAbort(bench, { ...SCENARIOS.answer(), name: 'a run that was aborted before it began', abort: before });
  for (const scenario of waitingScenarios()) await expectAbort(bench, scenario);
  await abortAtHooks(bench);
  await endBeforeAgent(bench);
}

async function expectAbort({ trial, report }: Bench, scenario: Scenario): Promise<void> {
  const { aborted, ending } = await trial.run(scenario);
  if (!aborted || ending === 'ERR_RUN_ABORTED') return;
  report(`an aborted run must end with ERR_RUN_ABORTED, got ${ending}`);
}

function waitingScenarios(): readonly Scenario[] {
  const waiting = (name: string, entry: ScriptEntry, stream = false): Scenario => {
    const abort = createCountedSignal();
    return { name: `a run that is aborted while ${name}`, script: sequence(soon(abort, entry)), abort, stream };
  };
  return [
    waiting('its model is pending', hangs()),
    waiting('its model is pending and ignores the abort', hangs({ deaf: true })),
    waiting('its model streams', streams(['This is '], hangs()), true),
    waiting('a tool is pending', calls({ name: 'trial_echo' }, { name: 'trial_hangs' })),
    waiting('a tool is pending and ignores the abort', calls('trial_deaf')),
  ];
}

/** Aborts just after the step has begun, so that the abort arrives while the run waits for it. */
function soon(abort: CountedSignal, entry: ScriptEntry): ScriptEntry {
  return () => {
    void pause(1).then(() => abort.abort(REASON));
    return entry;
  };
}

/** Makes one run for each start of a hook, and one for each returned promise, and aborts the run at that moment. */
async function abortAtHooks(bench: Bench): Promise<void> {
  const { observer } = bench.trial;
  if (observer === undefined) return;
  const steps: string[] = [];
  observer.onStep = (step) => steps.push(step);
  await bench.trial.run({ ...SCENARIOS.tools(), name: 'a run that calls tools, before it is aborted' });
  for (const [index, step] of steps.entries()) {
    const abort = createCountedSignal();
    let seen = 0;
    observer.onStep = () => {
      if (seen === index) abort.abort(REASON);
      seen += 1;
    };
    const scenario = { ...SCENARIOS.tools(), name: `a run that is aborted at ${step}`, abort };
    // After the answer, a run may complete despite the abort.
    if (/^(afterAgent|onError)/.test(step)) await bench.trial.run(scenario);
    else await expectAbort(bench, scenario);
  }
  observer.onStep = () => {};
}

/**
 * Ends runs while an asynchronous `beforeAgent` is pending, by an abort and by a time limit. Reports an `onError` that
 * is not called once after `beforeAgent` has returned.
 */
async function endBeforeAgent(bench: Bench): Promise<void> {
  const abort = createCountedSignal();
  await endEarly(bench, { ...heldScenario('aborted'), abort }, () => {
    void pause(1).then(() => abort.abort(REASON));
  });
  await endEarly(bench, { ...heldScenario('timed out'), timeouts: { runMs: RUN_MS } }, () => {});
}

function heldScenario(ending: string): Scenario {
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
