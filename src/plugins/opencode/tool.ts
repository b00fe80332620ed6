import { describeError, describeValue, ToolInvalidError } from '../../errors.js';
import type { JsonSchema } from '../../internal/json.js';
import { isPlainObject } from '../../internal/plain-data.js';
import type { RunContext } from '../../lifecycle/run-context.js';
import { defineTool } from '../../tools/define-tool.js';
import type { StandardSchema } from '../../tools/standard-schema.js';
import type { Tool, ToolContext, ToolOutput } from '../../tools/tool.js';
import { OpencodeUnavailableError } from '../error.js';

/** A tool of an opencode plugin. */
export interface OpencodeTool {
  readonly description: string;
  /** The schema of each argument, in zod 4 or JSON Schema. */
  readonly args?: Readonly<Record<string, unknown>>;
  execute(args: unknown, context: object): unknown;
}

/** Converts the tools of an opencode plugin. Throws a ToolInvalidError if a tool is invalid. */
export function opencodeTools(
  tools: Readonly<Record<string, OpencodeTool>>,
  from: { readonly plugin: string; readonly workspaceDir: string },
): Promise<Tool[]> {
  return Promise.all(
    Object.entries(tools).map(async ([name, tool]) =>
      defineTool({
        ...(await schemasOf(name, tool ?? {})),
        name,
        description: tool.description,
        origin: `plugin ${from.plugin}`,
        async execute(input, context) {
          return outputOf(await tool.execute(input, contextOf(context, from.workspaceDir)));
        },
      }),
    ),
  );
}

interface Schemas {
  readonly input: StandardSchema | JsonSchema;
  readonly inputSchema?: JsonSchema;
}

/** Combines the schemas of all arguments. Arguments in JSON Schema are all required, as in opencode. */
async function schemasOf(name: string, { args, execute }: Partial<OpencodeTool>): Promise<Schemas> {
  if (typeof execute !== 'function')
    throw new ToolInvalidError(name, `\`execute\` must be a function, got ${describeValue(execute)}`);
  const properties = args ?? {};
  const schemas = Object.entries(properties);
  const isOfZod = schemas.some(([, schema]) => isZod(schema));
  const invalid = schemas.find(([, schema]) => !(isOfZod ? isZod(schema) : isJsonSchema(schema)));
  if (invalid !== undefined) {
    const expected = isOfZod ? 'a schema of zod 4, like the other arguments' : 'a schema of zod 4 or a JSON Schema';
    throw new ToolInvalidError(name, `its argument \`${invalid[0]}\` must be ${expected}`);
  }
  if (isOfZod) return zodSchemasOf(name, properties);
  return { input: { type: 'object', properties, required: Object.keys(properties) } as JsonSchema };
}

/**
 * Keelson's zod makes the JSON Schema, because a plugin may bring another zod release whose `toJSONSchema` does not
 * know these schemas.
 */
async function zodSchemasOf(name: string, properties: Readonly<Record<string, unknown>>): Promise<Schemas> {
  const { z } = await import('zod');
  const input = z.object(properties as Record<string, never>);
  try {
    const inputSchema = z.toJSONSchema(input, { io: 'input', target: 'draft-2020-12', override: addNotes });
    return { input, inputSchema: inputSchema as JsonSchema };
  } catch (error) {
    throw new ToolInvalidError(name, `its arguments have no JSON Schema: ${describeError(error)}`);
  }
}

/** Adds the metadata of a schema, which only the plugin's own zod can read. */
function addNotes({ zodSchema, jsonSchema }: { zodSchema: object; jsonSchema: object }): void {
  const { id, ...notes } = (zodSchema as { meta?: () => { id?: unknown } | undefined }).meta?.() ?? {};
  Object.assign(jsonSchema, notes);
}

function isZod(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && '_zod' in schema;
}

/** Schema objects of other libraries, such as zod 3, contain functions. JSON Schemas do not. */
function isJsonSchema(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || !isPlainObject(schema)) return false;
  return Object.values(schema).every((value) => typeof value !== 'function');
}

interface OpencodeResult {
  readonly output?: unknown;
  readonly attachments?: readonly { readonly mime?: string; readonly url: string }[];
}

/**
 * Converts the result of an opencode tool: a string, or an object with `output` and `attachments`. Attachments are data
 * URLs.
 */
function outputOf(result: unknown): ToolOutput {
  const { output, attachments = [] } = (result ?? {}) as OpencodeResult;
  if (typeof output !== 'string') return result as ToolOutput;
  if (attachments.length === 0) return output;
  const parts = attachments.map(({ mime = '', url }) =>
    mime.startsWith('image/')
      ? ({ type: 'image', image: url, mediaType: mime } as const)
      : ({ type: 'file', data: url, mediaType: mime } as const),
  );
  return [{ type: 'text', text: output }, ...parts];
}

function contextOf(context: ToolContext, workspaceDir: string): object {
  const { run, callId, signal } = context;
  return {
    sessionID: (run as Partial<RunContext>).session?.id ?? run.id,
    messageID: `${run.id}/${run.turn}`,
    callID: callId,
    agent: run.agent,
    directory: workspaceDir,
    worktree: workspaceDir,
    abort: signal,
    metadata: (data: unknown) => context.progress(data),
    ask: () => Promise.reject(new OpencodeUnavailableError('ask')),
  };
}
