import { starTest } from '../../internal/star-pattern.js';
import type { Connection } from '../connection/connection.js';
import type { RequestOptions } from '../connection/sdk.js';
import type { McpLimits } from '../options.js';
import { type McpToolSpec, readToolSpecInWorker } from '../tools/spec.js';
import type { ServerContext } from './context.js';

/** The tools of one reading of `tools/list`. */
export interface ReadTools {
  /** Valid tools by the server's own name. */
  readonly specs: ReadonlyMap<string, McpToolSpec>;
  /** The names of all entries, also of tools that are skipped. */
  readonly names: readonly string[];
  /** A warning for each tool that is skipped. */
  readonly warnings: readonly string[];
}

/** The tools of one reading. `specs` leaves out the tools that a person has to approve first. */
export interface ListedTools extends ReadTools {
  /** Names of tools whose definition has changed since the last reading, and differs from the one that was first seen. */
  readonly changed: readonly string[];
}

/** Reads and validates the tools of a server. Rejects with the reason of the abort signal. */
export async function listTools(
  connection: Connection,
  { definition, settings, pins }: Pick<ServerContext, 'definition' | 'settings' | 'pins'>,
  options: RequestOptions & { readonly signal: AbortSignal },
): Promise<ListedTools> {
  const entries = await connection.list('tools', options);
  const isWanted = toolFilter(definition.includeTools, definition.excludeTools);
  const read = await readTools(entries, { limits: settings.limits, isWanted, signal: options.signal });
  const { changed, refused } = await pins.review(read.specs.values());
  const specs = new Map([...read.specs].filter(([name]) => !refused.includes(name)));
  return { ...read, specs, changed };
}

export interface ToolReading {
  readonly limits: McpLimits;
  readonly isWanted: (name: string) => boolean;
  readonly signal: AbortSignal;
}

/** Validates the entries of `tools/list`. Rejects with the reason of the abort signal. */
export async function readTools(entries: readonly unknown[], options: ToolReading): Promise<ReadTools> {
  const { limits, isWanted, signal } = options;
  const specs = new Map<string, McpToolSpec>();
  const names = entries.flatMap((entry) => nameOf(entry) ?? []);
  const warnings: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const name = nameOf(entry);
    if (name !== undefined && !isWanted(name)) continue;
    const spec = await readToolSpecInWorker(entry, limits, signal);
    const shown = JSON.stringify(name?.slice(0, 100)) ?? `number ${index}`;
    if ('problem' in spec) warnings.push(`tool ${shown} is skipped: ${spec.problem}`);
    else if (specs.has(spec.name)) warnings.push(`tool ${shown} is skipped: another tool has this name`);
    else specs.set(spec.name, spec);
  }
  return { specs, names, warnings };
}

function nameOf(entry: unknown): string | undefined {
  const { name } = (entry ?? {}) as { name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

/** Returns a filter for tool names: the included names without the excluded ones. `*` matches any characters. */
export function toolFilter(
  include: readonly string[] | undefined,
  exclude: readonly string[],
): (name: string) => boolean {
  const included = include?.map(starTest);
  const excluded = exclude.map(starTest);
  return (name) => (included?.some((fits) => fits(name)) ?? true) && !excluded.some((fits) => fits(name));
}

export function patternsWithout(names: readonly string[], patterns: readonly string[]): readonly string[] {
  return patterns.filter((pattern) => !names.some(starTest(pattern)));
}
