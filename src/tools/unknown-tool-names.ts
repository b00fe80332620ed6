import { nearestName } from '../internal/options/nearest-name.js';

/** The tools of an agent, as far as a configured name is compared with them. */
export interface KnownTools {
  readonly tools: readonly { readonly name: string }[];
  /** The beginnings of the names of tools that may be added later. */
  readonly prefixes: readonly string[];
}

/**
 * Returns a message for each name that matches no tool, with the nearest tool name. A name that begins like the tools of a
 * configured MCP server passes, because the server may add the tool later.
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

/** Returns the name that ends in this name of an MCP server's tool, or the nearest one, or undefined. */
export function nearestTool(name: string, known: readonly string[]): string | undefined {
  return known.find((other) => other.endsWith(`__${name}`)) ?? nearestName(name, known);
}
