import { calls, delays, says } from '../script/step.js';
import { differenceOf } from '../trial/difference.js';
import { type Outcome, shapeOf } from '../trial/outcome.js';
import { sequence } from '../trial/scenarios.js';
import type { Scenario } from '../trial/trial.js';
import type { Bench } from './bench.js';

/**
 * Starts many runs of one agent at once, each with its own marker in every string. Reports a run that contains the
 * marker of another run, or that ends differently from a run alone.
 */
export async function checkConcurrency({ trial, report, runs, input }: Bench): Promise<void> {
  const alone = await trial.run({ ...markedScenario(0, input), name: 'a single run before the concurrent runs' });
  const name = `${runs} runs at once`;
  const scenarios = Array.from({ length: runs }, (_, index) => ({ ...markedScenario(index + 1, input), name }));
  const outcomes = await trial.runTogether(scenarios);
  const leaks = outcomes.flatMap((outcome, index) => leakProblem(outcome, index + 1) ?? []);
  const strays = outcomes.flatMap((outcome, index) => {
    const difference = differenceOf(shapeOf(outcome), shapeOf(alone));
    return difference === undefined ? [] : [`in run ${index + 1}, ${difference}`];
  });
  for (const found of [leaks, strays]) {
    const what = found === leaks ? 'contain data of another run' : 'differ from a run without others';
    if (found.length > 0) report(`${found.length} of the runs ${what}, for example: ${found[0]}`);
  }
}

/** Uses a different delay in each run, so that runs overtake each other. */
function markedScenario(run: number, input: string): Scenario {
  const mark = markOf(run);
  return {
    name: '',
    input: `${input} ${mark}`,
    script: sequence(
      delays((run * 3) % 7, calls('trial_echo', { mark })),
      delays((run * 5) % 7, says(`This is the answer to ${mark}.`)),
    ),
  };
}

function markOf(run: number): string {
  return `<run-${run}>`;
}

function leakProblem({ text, history, messages, requests }: Outcome, run: number): string | undefined {
  const asked = requests.map((request) => request.messages);
  const marks = JSON.stringify([text, history, messages, asked]).match(/<run-\d+>/g) ?? [];
  const foreign = marks.find((mark) => mark !== markOf(run));
  return foreign === undefined ? undefined : `run ${run} contains the marker ${foreign}`;
}
