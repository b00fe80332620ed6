import type { Tool } from './tool.js';

/**
 * The property under which Keelson adds the called tool to the output of `tool.execute.before`, because opencode does
 * not tell its plugins which tool is called.
 *
 * A registered symbol, because the two package entries may be loaded as separate modules.
 */
const CALLED_TOOL = Symbol.for('keelson.calledTool');

/** Adds the called tool to the output of a hook. Code that lists the properties does not see it. */
export function markCalledTool<Output extends object>(output: Output, tool: Tool | undefined): Output {
  return Object.defineProperty(output, CALLED_TOOL, { value: tool });
}

/** Returns the called tool of a hook's output, or undefined if another host made the output. */
export function calledTool(output: object): Tool | undefined {
  return (output as { readonly [CALLED_TOOL]?: Tool })[CALLED_TOOL];
}
