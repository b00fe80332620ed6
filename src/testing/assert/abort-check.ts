import { calls, hangs, type ScriptEntry, streams } from '../script/step.js';
import { SCENARIOS, sequence } from '../trial/scenarios.js';
import type { Scenario } from '../trial/trial.js';
import type { Bench } from './bench.js';
import { type CountedSignal, createCountedSignal } from './listener-count.js';
import { pause } from './time-limit.js';

const REASON = 'aborted by the trial';

/** Aborts runs at every place where they wait, and at every hook of the lifecycle. */
export async function checkAbort(bench: Bench): Promise<void> {
  const before = createCountedSignal();
  before.abort(REASON);
  await expectAbort(bench, { ...SCENARIOS.answer(), name: 'a run that was aborted before it began', abort: before });
  for (const scenario of waitingScenarios()) await expectAbort(bench, scenario);
  await abortAtHooks(bench);
}

async function expectAbort({ trial, report }: Bench, scenario: Scenario): Promise<void> {
  const { aborted, ending } = await trial.run(scenario);
  if (!aborted || ending === 'ERR_RUN_ABORTED') return;
  report(`it was aborted, and ended as ${ending}, not as ERR_RUN_ABORTED`);
}

function waitingScenarios(): readonly Scenario[] {
  const waiting = (name: string, entry: ScriptEntry, stream = false): Scenario => {
    const abort = createCountedSignal();
    return { name: `a run that is aborted while ${name}`, script: sequence(soon(abort, entry)), abort, stream };
  };
  return [
    waiting('its model is at work', hangs()),
    waiting('its model is at work, deaf to the abort', hangs({ deaf: true })),
    waiting('its model streams', streams(['This is '], hangs()), true),
    waiting('a tool is at work', calls({ name: 'trial_echo' }, { name: 'trial_hangs' })),
    waiting('a tool is at work, deaf to the abort', calls('trial_deaf')),
  ];
}

/** Aborts a moment after the step has begun, so that everything behind it waits. */
function soon(abort: CountedSignal, entry: ScriptEntry): ScriptEntry {
  return () => {
    void pause(1).then(() => abort.abort(REASON));
    return entry;
  };
}

/** A run for each moment at which a hook of the lifecycle begins, or has given a promise, with an abort at that moment. */
async function abortAtHooks(bench: Bench): Promise<void> {
  const { observer } = bench.trial;
  if (observer === undefined) return;
  const steps: string[] = [];
  observer.onStep = (step) => steps.push(step);
  await bench.trial.run({ ...SCENARIOS.tools(), name: 'a run that calls tools, before it is aborted' });
  for (const [at, step] of steps.entries()) {
    const abort = createCountedSignal();
    let seen = 0;
    observer.onStep = () => {
      if (seen === at) abort.abort(REASON);
      seen += 1;
    };
    const scenario = { ...SCENARIOS.tools(), name: `a run that is aborted at ${step}`, abort };
    // Once the answer is there, a run may end with it.
    if (/^(afterAgent|onError)/.test(step)) await bench.trial.run(scenario);
    else await expectAbort(bench, scenario);
  }
  observer.onStep = () => {};
}
