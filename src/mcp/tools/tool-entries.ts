import type { McpLimits } from '../options.js';
import { type McpToolSpec, readToolSpecInWorker } from './spec.js';

/** The tools of one reading of `tools/list`. */
export interface ReadTools {
  /** Valid tools by the server's own name. */
  readonly specs: ReadonlyMap<string, McpToolSpec>;
  /** The names of all entries, also of tools that are skipped. */
  readonly names: readonly string[];
  /** A warning for each tool that is skipped. */
  readonly warnings: readonly string[];
}

/** Options of `readTools`. */
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
