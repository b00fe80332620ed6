import { nearestName } from '../internal/options/nearest-name.js';

/**
 * Returns a message for each name that matches no tool, with the nearest tool name. A name of a tool of an MCP server
 * passes while that server has no tools, because the server may add them later.
 */
export function unknownToolNames(names: readonly string[], tools: readonly { readonly name: string }[]): string[] {
  const known = tools.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name) && !isAwaited(name, known));
  return unknown.map((name) => {
    const near = nearestTool(name, known);
    return `no tool is named "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}`;
  });
}

/** Returns the name that ends in this name of an MCP server's tool, or the nearest one, or undefined. */
export function nearestTool(name: string, known: readonly string[]): string | undefined {
  return known.find((other) => other.endsWith(`__${name}`)) ?? nearestName(name, known);
}

function isAwaited(name: string, known: readonly string[]): boolean {
  const server = /^mcp__.+?__/.exec(name)?.[0];
  return server !== undefined && !known.some((other) => other.startsWith(server));
}
