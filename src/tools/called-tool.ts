import type { Tool } from './tool.js';

/**
 * The key under which Keelson adds the called tool to the output of `tool.execute.before`, because opencode does not
 * tell its plugins which tool is called.
 *
 * A registered symbol, because two package entries may load separate copies of this module.
 */
const CALLED_TOOL = Symbol.for('keelson.calledTool');

/** Adds the called tool to the output of a hook. The property is not enumerable. */
export function markCalledTool<Output extends object>(output: Output, tool: Tool | undefined): Output {
  return Object.defineProperty(output, CALLED_TOOL, { value: tool });
}

/** Returns the called tool from the output of a hook. Returns undefined if opencode itself made the output. */
export function calledTool(output: object): Tool | undefined {
  return (output as { readonly [CALLED_TOOL]?: Tool })[CALLED_TOOL];
}
