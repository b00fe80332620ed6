import type { Tool } from '../../tools/tool.js';
import { HANDOFF } from '../../tools/tool-catalog.js';
import type { RunConfig, RunEngine } from '../run/run-config.js';

/** Returns the agent that a tool hands over to, or undefined. */
export function targetOf(tool: Tool | undefined): RunEngine | undefined {
  return (tool as { readonly [HANDOFF]?: () => RunEngine } | undefined)?.[HANDOFF]?.();
}

/**
 * Returns an agent and all agents that it can hand over to, directly or through other agents. Nearer agents come first.
 */
export function agentsFrom(first: RunEngine, configOf: (agent: RunEngine) => RunConfig): readonly RunEngine[] {
  const found = [first];
  for (const agent of found) {
    for (const tool of configOf(agent).catalog.current().tools) {
      const next = targetOf(tool);
      if (next !== undefined && !found.includes(next)) found.push(next);
    }
  }
  return found;
}
