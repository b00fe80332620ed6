import type { Tool } from '../../tools/tool.js';
import { HANDOFF, type ToolSnapshot } from '../../tools/tool-catalog.js';
import type { Run } from '../run/run.js';
import type { RunConfig, RunEngine } from '../run/run-config.js';
import type { ToolCalls } from '../run/turn/tool-calls.js';

/** Marks a tool made by `handoff`. `load` imports the code of handovers, so a bundle without such a tool does not include it. */
export interface Handoff {
  readonly target: () => RunEngine;
  readonly load: () => Promise<Handover>;
}

/** The functions of `hand-over.ts` that an agent calls. */
interface Handover {
  handOver(run: Run, calls: ToolCalls): Promise<void>;
  partIn(run: Run, messages: readonly unknown[] | undefined): Promise<RunConfig | undefined>;
  beginPart(run: Run, config: RunConfig): void;
}

/** Returns the handoff of the first tool that has one. */
export function handoffIn({ hasHandoffs, tools }: ToolSnapshot): Handoff | undefined {
  return hasHandoffs ? tools.map(handoffOf).find((handoff) => handoff !== undefined) : undefined;
}

/** Returns the agent that a tool hands over to, or undefined. */
export function targetOf(tool: Tool | undefined): RunEngine | undefined {
  return handoffOf(tool)?.target();
}

function handoffOf(tool: Tool | undefined): Handoff | undefined {
  return (tool as { readonly [HANDOFF]?: Handoff } | undefined)?.[HANDOFF];
}

/**
 * Returns an agent and all agents that it can hand over to, directly or through other agents. Sorted by the number of
 * handovers that are needed.
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

/** Logs a warning: the agent continues messages of another agent, to which it has no handoff. */
export function warnOfStranger({ agent, logger }: RunConfig, stranger: string): void {
  logger.warn(
    `Agent "${agent}" answers, although the last message is from agent "${stranger}", because no tool of "${agent}" ` +
      `hands over to "${stranger}". Add such a tool with \`handoff\`, or run agent "${stranger}".`,
  );
}
