import { SCENARIOS } from '../trial/scenarios.js';
import type { Bench } from './bench.js';

/**
 * Aborts a run at every moment at which a hook starts, and at which a hook has returned a promise. Each moment is one
 * run.
 *
 * The promise of a wrap hook usually waits for the model or a tool, so many of these runs abort in the middle of such a
 * call.
 */
export async function checkAbort({ trial }: Bench): Promise<void> {
  const { observer } = trial;
  if (observer === undefined) return;
  const steps: string[] = [];
  observer.onStep = (step) => steps.push(step);
  await trial.run({ ...SCENARIOS.tools(), name: 'a run that calls tools, before it is aborted' });
  for (const [index, step] of steps.entries()) {
    const abort = new AbortController();
    let seen = 0;
    observer.onStep = () => {
      if (seen === index) abort.abort('aborted by the trial');
      seen += 1;
    };
    await trial.run({ ...SCENARIOS.tools(), name: `a run that is aborted at ${step}`, abort });
  }
  observer.onStep = () => {};
}
