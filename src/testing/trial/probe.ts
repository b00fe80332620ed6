import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';

/** A passive lifecycle that stands beside the one under test and counts how its own runs end. */
export interface Probe {
  readonly lifecycle: AgentLifecycle;
  /** What is wrong with the runs so far; forgets them. */
  takeProblems(): readonly string[];
}

/** Makes a probe: whoever entered a run has to get exactly one of `afterAgent` and `onError`. */
export function createProbe(name: string, priority: number): Probe {
  const exits = new Map<RunContext, number>();
  const exit = (run: RunContext) => {
    exits.set(run, (exits.get(run) ?? 0) + 1);
  };
  return {
    lifecycle: {
      name,
      priority,
      beforeAgent: (_input, run) => void exits.set(run, 0),
      afterAgent: (_result, run) => exit(run),
      onError: (_error, run) => exit(run),
    },
    takeProblems() {
      const wrong = [...exits.values()].filter((count) => count !== 1);
      exits.clear();
      return wrong.map(
        (count) => `a lifecycle beside it entered the run, and got ${count} of afterAgent and onError, not one`,
      );
    },
  };
}
