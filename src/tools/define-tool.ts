import { ToolInvalidError } from '../errors.js';
import type { JsonSchema } from '../internal/json.js';
import { alsoCalled, anything, callable, object, required, text, timerMs } from '../internal/options/rules.js';
import { type OptionTable, optionProblem } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import { jsonSchemaChecker, jsonSchemaOf, schemaRule } from './json-schema.js';
import { type InferOutput, isStandardSchema, type StandardSchema } from './standard-schema.js';
import type { PlainObject, Tool, ToolAnnotations, ToolContext, ToolOutput } from './tool.js';

/** The definition of a tool, for `defineTool`. */
export interface ToolDefinition<Schema, Context = unknown, Input = InputOf<Schema>> {
  /** 1 to 64 letters, digits, `_` or `-`. All model providers accept these names. */
  readonly name: string;
  /** Tells the model what the tool does and when to call it. */
  readonly description: string;
  /** The schema of the arguments: a Standard Schema of an object (zod 4.2, arktype, valibot …) or a plain JSON Schema. */
  readonly input: Schema;
  /** The JSON Schema sent to the model. Required if `input` cannot be converted to JSON Schema (valibot). */
  readonly inputSchema?: JsonSchema | undefined;
  /** Time limit of one call, in milliseconds. Default: the agent's `timeouts.toolMs`. */
  readonly timeoutMs?: number | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** The source of the tool, such as the name of a server. Shown by `agent.status()`. */
  readonly origin?: string | undefined;
  /**
   * Runs the tool with a checked copy of the arguments. Returns a string, content parts, data that JSON can hold, or
   * `toolResult(…)`. If it returns nothing, the model reads `Done.`
   *
   * If it throws, the model reads the error's message as an error result. Without this function, the caller of the agent
   * runs the tool, such as a web page. Then a call is suspended until `resume` has its `{ result }`.
   */
  readonly execute?: ((input: Input, context: ToolContext<Context>) => Awaitable<ToolOutput>) | undefined;
}

/** The input of `execute`: the schema's output type, or `unknown` for a plain JSON Schema. */
export type InputOf<Schema> = Schema extends StandardSchema ? InferOutput<Schema> : unknown;

/** Turns an `input` that is not an object schema into a compile error with a message. */
export type ArgumentsSchema<Schema> =
  Schema extends StandardSchema<infer Input>
    ? unknown extends Input
      ? unknown
      : Input extends PlainObject
        ? unknown
        : 'The input of a tool must be a schema of an object: use z.object({ … })'
    : [Extract<Schema[keyof Schema], StandardSchema>] extends [never]
      ? unknown
      : 'The input of a tool must be one schema, not a map of schemas: use z.object({ … })';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const rules = {
  name: required({ expected: '1 to 64 letters, digits, `_` or `-`', accepts: (value) => NAME.test(String(value)) }),
  description: required(text),
  input: alsoCalled(required(schemaRule), 'parameters', 'schema', 'args'),
  inputSchema: object,
  timeoutMs: timerMs,
  annotations: anything,
  origin: anything,
  execute: alsoCalled(callable, 'handler', 'func', 'run', 'invoke'),
} satisfies OptionTable<ToolDefinition<JsonSchema>>;

/**
 * Makes a tool from a schema and a function. Throws ToolInvalidError if the definition is invalid.
 *
 * @example
 * const add = defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => String(a + b),
 * });
 */
export function defineTool<Schema extends StandardSchema, Context = unknown>(
  definition: ToolDefinition<Schema & ArgumentsSchema<Schema>, Context, InferOutput<Schema>>,
): Tool<Context, InferOutput<Schema>>;
/**
 * Overload for a plain JSON Schema. `input` has type `unknown`, so declare the parameter type of `execute` yourself.
 *
 * @example
 * const add = defineTool({
 *   name: 'add',
 *   description: 'Adds two numbers.',
 *   input: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
 *   execute: ({ a, b }: { a: number; b: number }) => String(a + b),
 * });
 */
export function defineTool<Schema extends object, Context = unknown, Input = unknown>(
  definition: ToolDefinition<Schema & ArgumentsSchema<Schema>, Context, Input>,
): Tool<Context, Input>;
export function defineTool(definition: ToolDefinition<StandardSchema | JsonSchema, never, never>): Tool<never> {
  const problem = optionProblem(definition, rules);
  if (problem !== undefined) {
    const isMisnamed = problem.option === 'input' && definition.input === undefined && definition.inputSchema;
    const advice = isMisnamed ? '; rename `inputSchema` to `input`' : '';
    throw new ToolInvalidError(String(Object(definition).name), problem.message + advice);
  }
  const { name, description, input, timeoutMs, annotations, origin } = definition;
  const invalid = (what: string) => new ToolInvalidError(name, `${what}; pass one as \`inputSchema\``);
  const inputSchema = definition.inputSchema ?? (isStandardSchema(input) ? jsonSchemaOf(input, invalid) : input);
  if (inputSchema === undefined) throw invalid('it has no JSON Schema (zod has one since 4.2)');
  const tool: { -readonly [Key in keyof Tool]: Tool<never>[Key] } = {
    name,
    description,
    inputSchema: objectSchema(name, inputSchema),
    check: isStandardSchema(input) ? standardChecker(input) : jsonSchemaChecker(input as JsonSchema),
  };
  // The cast is safe: `execute` only gets values that passed `check`.
  if (definition.execute !== undefined) tool.execute = definition.execute as Tool<never>['execute'];
  if (timeoutMs !== undefined) tool.timeoutMs = timeoutMs;
  if (annotations !== undefined) tool.annotations = annotations;
  if (origin !== undefined) tool.origin = origin;
  return tool;
}

function standardChecker(schema: StandardSchema): Tool['check'] {
  const standard = schema['~standard'];
  return (input) => standard.validate(input);
}

/** Adds `type: 'object'` if it is missing, because providers require it even for a union of objects. */
function objectSchema(name: string, inputSchema: JsonSchema): JsonSchema {
  const { type } = inputSchema;
  if (type === undefined) return { ...inputSchema, type: 'object' };
  if ([type].flat().includes('object')) return inputSchema;
  throw new ToolInvalidError(name, `its schema is of type ${JSON.stringify(type)}; arguments are always an object`);
}
