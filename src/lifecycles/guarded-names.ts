import type { AgentLifecycle, LifecycleHost } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import { unknownToolNames } from '../tools/unknown-tool-names.js';

/** Warns of a guard's names that match no tool: once for each agent, at its first model call after all loaders. */
export interface GuardedNames {
  readonly onInit: NonNullable<AgentLifecycle['onInit']>;
  /** Called before a model call. */
  check(run: Pick<RunContext, 'agent' | 'tools' | 'logger'>): void;
}

/** Checks the names of tools that an option of a lifecycle holds. `option` is how the warning names it. */
export function guardedNames(option: string, names: readonly string[]): GuardedNames {
  const unchecked = new Map<string, LifecycleHost>();
  return {
    onInit: (host) => void unchecked.set(host.agent, host),
    check(run) {
      const host = unchecked.size === 0 ? undefined : unchecked.get(run.agent);
      if (host === undefined) return;
      unchecked.delete(run.agent);
      const problems = unknownToolNames(names, [...host.tools(), ...run.tools]);
      if (problems.length > 0) run.logger.warn(`${option}: ${problems.join('; ')}`);
    },
  };
}
