import type { AgentLifecycle } from '../../lifecycle/lifecycle.js';
import type { RunContext } from '../../lifecycle/run-context.js';

/** A passive lifecycle beside the one under test. Counts how often its own runs end. */
export interface Probe {
  readonly lifecycle: AgentLifecycle;
  /** Returns the problems of the runs so far, and clears them. */
  takeProblems(): readonly string[];
}

/** Creates a probe. It expects exactly one call of `afterAgent` or `onError` for each call of `beforeAgent`. */
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
        (count) =>
          `another lifecycle must get one call of afterAgent or onError in a run that it entered, got ${count}`,
      );
    },
  };
}
