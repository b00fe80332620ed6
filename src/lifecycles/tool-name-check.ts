import type { AgentLifecycle, LifecycleHost } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import { unknownToolNames } from '../tools/unknown-tool-names.js';

/** Warns about configured tool names that match no tool: once per agent, at its first model call. */
export interface ToolNameCheck {
  readonly onInit: NonNullable<AgentLifecycle['onInit']>;
  /** Logs the warnings. Call it before a model call, when all loaders have finished. */
  check(run: Pick<RunContext, 'agent' | 'tools' | 'logger'>): void;
}

/** Checks the tool names in an option of a lifecycle. `option` names the option in the warning. */
export function checkToolNames(option: string, names: readonly string[]): ToolNameCheck {
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
