import type { Tool } from './tool.js';

/**
 * Property of the output that Keelson passes to `tool.execute.before`. Contains the called tool, which opencode does
 * not tell its plugins. A registered symbol, because the two entries may be loaded as separate modules.
 */
const CALLED_TOOL = Symbol.for('keelson.calledTool');

/** Adds the called tool to the output of a hook, invisible to code that lists its properties. */
export function markCalledTool<Output extends object>(output: Output, tool: Tool | undefined): Output {
  return Object.defineProperty(output, CALLED_TOOL, { value: tool });
}

/** Returns the called tool of a hook's output, or undefined if another host made the output. */
export function calledTool(output: object): Tool | undefined {
  return (output as { readonly [CALLED_TOOL]?: Tool })[CALLED_TOOL];
}
