import { nearestName } from '../internal/options/nearest-name.js';

/** The tool names of an agent, for comparing configured names. */
export interface KnownTools {
  readonly tools: readonly { readonly name: string }[];
  /** The prefixes of the names of tools that may be added later. */
  readonly prefixes: readonly string[];
}

/**
 * Returns a message for each name that matches no tool, with the nearest tool name. Accepts a name with the prefix of a
 * configured MCP server, because the server may add the tool later.
 */
export function unknownToolNames(names: readonly string[], { tools, prefixes }: KnownTools): string[] {
  const known = tools.map(({ name }) => name);
  const isAwaited = (name: string) => prefixes.some((prefix) => name.startsWith(prefix));
  const unknown = names.filter((name) => !known.includes(name) && !isAwaited(name));
  return unknown.map((name) => {
    const near = nearestTool(name, known);
    return `no tool is named "${name}"${near === undefined ? '' : `; did you mean "${near}"?`}`;
  });
}

/** Returns the MCP tool whose name ends in this name, or the nearest tool name, or undefined. */
export function nearestTool(name: string, known: readonly string[]): string | undefined {
  return known.find((other) => other.endsWith(`__${name}`)) ?? nearestName(name, known);
}
