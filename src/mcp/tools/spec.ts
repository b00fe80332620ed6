import { createHash } from 'node:crypto';
import { describeError } from '../../errors.js';
import { isObject, type JsonSchema } from '../../internal/json.js';
import { safeText } from '../../internal/safe-text.js';
import type { ToolAnnotations } from '../../tools/tool.js';
import type { McpLimits } from '../options.js';
import { problemOfSchema, problemOfSize } from './schema-problem.js';

/** A tool as a server describes it, checked. */
export interface McpToolSpec {
  /** The server's own name for it. */
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema: JsonSchema | undefined;
  readonly annotations: ToolAnnotations | undefined;
  /** The same where nothing of the tool has changed. */
  readonly fingerprint: string;
}

const MAX_NAME = 1_000;
const MAX_TITLE = 200;

/** What a server's entry describes, or what is wrong with it. */
export function readToolSpec(entry: unknown, limits: McpLimits): McpToolSpec | { readonly problem: string } {
  try {
    return read(entry, limits);
  } catch (error) {
    // What is nested too deeply to be written as JSON.
    return { problem: describeError(error) };
  }
}

function read(entry: unknown, limits: McpLimits): McpToolSpec | { readonly problem: string } {
  if (!isObject(entry)) return { problem: 'it is no object' };
  const { name, inputSchema, outputSchema, title } = entry;
  // Some servers write null where there is nothing.
  const description = entry.description ?? '';
  const annotations = entry.annotations ?? {};
  if (typeof name !== 'string' || name === '' || name.length > MAX_NAME) return { problem: 'it has no usable name' };
  if (typeof description !== 'string') return { problem: 'its description is no text' };
  if (!isObject(annotations)) return { problem: 'its annotations are no object' };
  const problem = problemOfSchema(inputSchema, limits.schemaLength) ?? problemOfTask(entry);
  if (problem !== undefined) return { problem };
  return {
    name,
    description: safeText(description, { maxLength: limits.descriptionLength }),
    inputSchema: inputSchema as JsonSchema,
    outputSchema:
      isObject(outputSchema) && problemOfSize(outputSchema, limits.schemaLength) === undefined
        ? outputSchema
        : undefined,
    annotations: readAnnotations({ ...annotations, title: title ?? annotations.title }),
    fingerprint: hash(JSON.stringify([description, title, inputSchema, outputSchema, annotations], inOrder)),
  };
}

function problemOfTask({ execution }: Readonly<Record<string, unknown>>): string | undefined {
  const isTask = isObject(execution) && execution.taskSupport === 'required';
  return isTask ? 'it can be called as a task only, which this client cannot do' : undefined;
}

const HINTS = [
  ['readOnly', 'readOnlyHint'],
  ['destructive', 'destructiveHint'],
  ['idempotent', 'idempotentHint'],
  ['openWorld', 'openWorldHint'],
] as const;

/** Only what the server says: what it leaves out stays out. */
function readAnnotations(hints: Readonly<Record<string, unknown>>): ToolAnnotations | undefined {
  const found = HINTS.filter(([, hint]) => typeof hints[hint] === 'boolean').map(([name, hint]) => [name, hints[hint]]);
  const title = typeof hints.title === 'string' ? [['title', safeText(hints.title, { maxLength: MAX_TITLE })]] : [];
  return found.length + title.length === 0 ? undefined : Object.fromEntries([...title, ...found]);
}

/** Some servers write the fields of an object in another order each time. */
function inOrder(_name: string, value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
