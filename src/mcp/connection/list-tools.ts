import { toolFilter } from '../tools/patterns.js';
import { type ReadTools, readTools } from '../tools/tool-entries.js';
import type { Connection, RequestOptions, ServerContext } from './connection.js';

/** Reads and validates the tools of a server. Rejects with the reason of the abort signal. */
export async function listTools(
  connection: Connection,
  { definition, settings }: Pick<ServerContext, 'definition' | 'settings'>,
  options: RequestOptions & { readonly signal: AbortSignal },
): Promise<ReadTools> {
  const entries = await connection.list('tools', options);
  const isWanted = toolFilter(definition.includeTools, definition.excludeTools);
  return readTools(entries, { limits: settings.limits, isWanted, signal: options.signal });
}
