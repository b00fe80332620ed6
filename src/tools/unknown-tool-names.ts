import { nearestName } from '../internal/options/nearest-name.js';

/** The tool names of an agent, with which configured names are compared. */
export interface KnownTools {
  readonly tools: readonly { readonly name: string }[];
  /** The beginnings of tool names that may be added later. */
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

/**
 * Returns the MCP tool whose name ends with this name, or else the most similar tool name. Returns undefined if no name
 * is similar.
 */
export function nearestTool(name: string, known: readonly string[]): string | undefined {
  return known.find((other) => other.endsWith(`__${name}`)) ?? nearestName(name, known);
}
