import type { Run } from '../agent/run/run.js';
import type { JsonSchema } from '../internal/json.js';
import type { Tool } from '../tools/tool.js';
import { ToolSnapshot } from '../tools/tool-catalog.js';
import { errorResult, toolResult } from '../tools/tool-result.js';
import type { Steps } from './record/steps.js';

/** The description of a tool, without its function, as a step stores it. */
interface StoredTool extends Pick<Tool, 'name' | 'description' | 'annotations' | 'origin'> {
  readonly inputSchema: JsonSchema;
}

/**
 * Returns the tools that the model was offered in a stored turn. If a tool was removed since, it is still offered, but
 * its calls get an error result. New tools are not offered.
 */
export function toolsOfTurn({ config, turn }: Run, names: readonly string[]): ToolSnapshot | undefined {
  const offered = turn?.tools?.tools ?? [];
  const isSame = names.length === offered.length && names.every((name, index) => offered[index]?.name === name);
  if (isSame) return turn?.tools;
  const present = config.catalog.current();
  return new ToolSnapshot(names.map((name) => present.find(name) ?? missingTool(unknownTool(name))));
}

function unknownTool(name: string): StoredTool {
  return { name, description: '', inputSchema: { type: 'object' }, annotations: undefined, origin: undefined };
}

/**
 * Stores the tools of a turn in a separate step, as older versions of this library did. Returns the stored tools. If a
 * tool was removed since, it is still offered, but its calls get an error result.
 */
export async function storedTools(
  steps: Steps,
  tools: readonly Tool[],
  { run, number }: { readonly run: Run; readonly number: number },
): Promise<readonly Tool[]> {
  const key = `${run.context.idempotencyKey}:tools:${number}`;
  const stored = await steps.perform({ name: `tools ${number}`, key, kind: 'tools', run }, async () =>
    tools.map(
      ({ name, description, inputSchema, annotations, origin }): StoredTool => ({
        name,
        description,
        inputSchema,
        annotations,
        origin,
      }),
    ),
  );
  const present = new Map(tools.map((tool) => [tool.name, tool]));
  const isSame = stored.length === tools.length && stored.every(({ name }, index) => tools[index]?.name === name);
  return isSame ? tools : stored.map((tool) => present.get(tool.name) ?? missingTool(tool));
}

function missingTool(stored: StoredTool): Tool {
  return {
    ...stored,
    check: (value) => ({ value }),
    execute: () => toolResult(errorResult(`The tool "${stored.name}" is not available at the moment.`)),
  };
}
