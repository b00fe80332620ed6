import { OptionInvalidError } from '../errors.js';
import { hookRunOf } from '../lifecycle/hook-run/hook-run.js';
import type { AgentLifecycle, LifecycleHost } from '../lifecycle/lifecycle.js';
import type { RunContext } from '../lifecycle/run-context.js';
import { unknownToolNames } from '../tools/unknown-tool-names.js';

/** Checks configured tool names against the tools of each agent, before its first model call. */
export interface ToolNameCheck {
  readonly onInit: NonNullable<AgentLifecycle['onInit']>;
  /** Must be called before a model call, when all loaders have finished. */
  check(run: RunContext): void;
}

/**
 * Returns a check of the tool names in an option of a lifecycle. If `isGuard`, throws an OptionInvalidError in each run
 * in which a name matches no tool. Otherwise logs one warning per agent.
 */
export function checkToolNames(option: string, names: readonly string[], isGuard: boolean): ToolNameCheck {
  const unchecked = new Map<string, LifecycleHost>();
  return {
    onInit: (host) => void unchecked.set(host.agent, host),
    check(run) {
      const host = unchecked.size === 0 ? undefined : unchecked.get(run.agent);
      if (host === undefined) return;
      const known = { tools: [...host.tools(), ...run.tools], prefixes: host.toolPrefixes() };
      const problems = unknownToolNames(names, known).join('; ');
      if (problems === '' || !isGuard) unchecked.delete(run.agent);
      if (problems === '') return;
      if (!isGuard) return run.logger.warn(`${option}: ${problems}`);
      const message = `\`${option}\` must name tools of the agent, got other names: ${problems}; correct the name, or set \`optional: true\``;
      const error = new OptionInvalidError(option, message);
      throw hookRunOf(run)?.end.own(error) ?? error;
    },
  };
}
