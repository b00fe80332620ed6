import { nearestName } from '../internal/options/nearest-name.js';

/**
 * Says which names match no tool, each with the nearest one. A tool of an MCP server that has no tools yet may still come,
 * so its name passes.
 */
export function unknownToolNames(names: readonly string[], tools: readonly { readonly name: string }[]): string[] {
  const known = tools.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name) && !isAwaited(name, known));
  return unknown.map((name) => {
    const near = known.find((other) => other.endsWith(`__${name}`)) ?? nearestName(name, known);
    return `no tool is named "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}`;
  });
}

function isAwaited(name: string, known: readonly string[]): boolean {
  const server = /^mcp__.+?__/.exec(name)?.[0];
  return server !== undefined && !known.some((other) => other.startsWith(server));
}
