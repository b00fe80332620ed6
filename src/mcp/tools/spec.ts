import { createHash } from 'node:crypto';
import { isObject, type JsonSchema } from '../../internal/json.js';
import { safeText } from '../../internal/safe-text.js';
import type { ToolAnnotations } from '../../tools/tool.js';
import type { McpLimits } from '../options.js';
import { problemOfContent, problemOfInput, problemOfSize } from '../schema/tool-schema.js';

export interface McpToolSpec {
  readonly name: string;
  readonly description: string;
  readonly isCut: boolean;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | undefined;
  readonly annotations: ToolAnnotations | undefined;
  /** False for a tool that only the user interface of an MCP app may call. */
  readonly isForModel: boolean;
  readonly fingerprint: string;
}

const MAX_NAME = 1_000;
const MAX_TITLE = 200;

type SpecReading = McpToolSpec | { readonly problem: string };

/** Validates an entry of `tools/list` on this thread. Returns its definition, or the problem with it. */
export function readToolSpec(entry: unknown, limits: McpLimits): SpecReading {
  const spec = readEntry(entry, limits);
  const problem = 'problem' in spec ? undefined : problemOfContent(spec.inputSchema);
  return problem === undefined ? spec : { problem };
}

/**
 * Reads an entry of `tools/list`. Leaves the keywords and references of its input schema to the caller, who may check
 * them in the worker.
 */
export function readEntry(entry: unknown, limits: McpLimits): SpecReading {
  if (!isObject(entry)) return { problem: 'it must be an object' };
  const { name, inputSchema, outputSchema, title } = entry;
  // Some servers send null for a missing field.
  const description = entry.description ?? '';
  const annotations = entry.annotations ?? {};
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME)
    return { problem: `its name must be a string of 1 to ${MAX_NAME} characters` };
  if (typeof description !== 'string') return { problem: 'its description must be a string' };
  if (!isObject(annotations)) return { problem: 'its annotations must be an object' };
  const problem = problemOfInput(inputSchema, limits.schemaLength);
  if (problem !== undefined) return { problem };
  if (isObject(entry.execution) && entry.execution.taskSupport === 'required')
    return { problem: 'it can be called only as a task, which is not supported' };
  const isUsable = isObject(outputSchema) && problemOfSize(outputSchema, limits.schemaLength) === undefined;
  const parts = [
    [description, title, annotations, isForModel(entry)],
    inputSchema,
    isUsable ? outputSchema : undefined,
  ];
  return {
    name,
    isCut: description.length > limits.descriptionLength,
    inputSchema: inputSchema as JsonSchema,
    description: safeText(description, { maxLength: limits.descriptionLength }),
    outputSchema: isUsable ? outputSchema : undefined,
    annotations: readAnnotations({ ...annotations, title: title ?? annotations.title }),
    isForModel: isForModel(entry),
    fingerprint: createHash('sha256').update(JSON.stringify(parts, withSortedKeys)).digest('base64'),
  };
}

/** The default visibility is `["model", "app"]`. */
function isForModel({ _meta }: Readonly<Record<string, unknown>>): boolean {
  const { visibility } = isObject(_meta) && isObject(_meta.ui) ? _meta.ui : {};
  return visibility === undefined || visibility === null || [visibility].flat().includes('model');
}

const HINTS = [
  ['readOnly', 'readOnlyHint'],
  ['destructive', 'destructiveHint'],
  ['idempotent', 'idempotentHint'],
  ['openWorld', 'openWorldHint'],
] as const;

/** Returns only the annotations that the server sends, without defaults. */
function readAnnotations(hints: Readonly<Record<string, unknown>>): ToolAnnotations | undefined {
  const found = HINTS.filter(([, hint]) => typeof hints[hint] === 'boolean').map(([name, hint]) => [name, hints[hint]]);
  const title = typeof hints.title === 'string' ? [['title', safeText(hints.title, { maxLength: MAX_TITLE })]] : [];
  return found.length + title.length === 0 ? undefined : Object.fromEntries([...title, ...found]);
}

/** Sorts the keys of objects, since some servers send them in a different order each time. */
function withSortedKeys(_name: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}
