import { toolFilter } from '../tools/patterns.js';
import { type ReadTools, readTools } from '../tools/tool-entries.js';
import type { Connection, RequestOptions, ServerContext } from './connection.js';

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
