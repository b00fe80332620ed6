import { ToolInvalidError } from '../errors.js';
import { isObject, type JsonSchema } from '../internal/json.js';
import { alsoCalled, anything, callable, object, required, text, timerMs } from '../internal/options/rules.js';
import { type OptionTable, optionProblem } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import { jsonSchemaChecker, jsonSchemaOf } from './json-schema.js';
import { type InferOutput, isStandardSchema, type StandardSchema } from './standard-schema.js';
import type { PlainObject, Tool, ToolAnnotations, ToolContext, ToolOutput } from './tool.js';

/** The definition of a tool, for `defineTool`. */
export interface ToolDefinition<Schema, Context = unknown, Input = ToolInput<Schema>> {
  /** Letters, digits, `_` and `-`, 1–64 of them: what every model provider accepts. */
  readonly name: string;
  /** Tells the model what the tool does and when to call it. */
  readonly description: string;
  /** The arguments: a Standard Schema of an object (zod 4, arktype, valibot …) or a plain JSON Schema. */
  readonly input: Schema;
  /** The JSON Schema shown to the model, for a Standard Schema that cannot give its own (valibot). */
  readonly inputSchema?: JsonSchema | undefined;
  /** Time for one call, in milliseconds. */
  readonly timeoutMs?: number | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** Names the source of the tool, such as a server; `status()` shows it. */
  readonly origin?: string | undefined;
  /**
   * Does the work with checked arguments. Returns a string, parts (text, image, file), data that JSON can hold, or
   * `toolResult(…)`. A throw becomes an error result with the error's message. `undefined` becomes one too: return
   * `null` when there is nothing to say.
   */
  readonly execute: (input: Input, context: ToolContext<Context>) => Awaitable<ToolOutput>;
}

/** The input of `execute`: the schema's output type, or `unknown` for a plain JSON Schema. */
export type ToolInput<Schema> = Schema extends StandardSchema ? InferOutput<Schema> : unknown;

/** A type error with a message when a schema cannot describe the arguments of a tool, such as a schema of a string. */
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
  input: alsoCalled(
    required({
      expected: 'a Standard Schema or a JSON Schema; wrap a map of schemas in `z.object(…)`',
      accepts: (value) => isStandardSchema(value) || (isObject(value) && !Object.values(value).some(isStandardSchema)),
    }),
    'parameters',
    'schema',
    'args',
  ),
  inputSchema: object,
  timeoutMs: timerMs,
  annotations: anything,
  origin: anything,
  execute: alsoCalled(required(callable), 'handler', 'func', 'run', 'invoke'),
} satisfies OptionTable<ToolDefinition<JsonSchema>>;

/**
 * Makes a tool from a schema and a function. Throws ToolInvalidError when the definition cannot be used.
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
): Tool<Context>;
/**
 * A plain JSON Schema says nothing to the compiler: give the parameter of `execute` its type.
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
): Tool<Context>;
export function defineTool(definition: ToolDefinition<StandardSchema | JsonSchema, never, never>): Tool<never> {
  const problem = optionProblem(definition, rules);
  if (problem !== undefined) throw new ToolInvalidError(String(Object(definition).name), problem.message);
  const { name, description, input, timeoutMs, annotations, origin } = definition;
  const invalid = (what: string) => new ToolInvalidError(name, `${what}; pass one as \`inputSchema\``);
  const inputSchema = definition.inputSchema ?? (isStandardSchema(input) ? jsonSchemaOf(input, invalid) : input);
  if (inputSchema === undefined) throw invalid('its schema cannot give a JSON Schema');
  const tool: { -readonly [Key in keyof Tool]: Tool<never>[Key] } = {
    name,
    description,
    inputSchema: objectSchema(name, inputSchema),
    check: isStandardSchema(input) ? standardChecker(input) : jsonSchemaChecker(input as JsonSchema),
    // The check stands between: what reaches `execute` is what the schema gave.
    execute: definition.execute as Tool<never>['execute'],
  };
  if (timeoutMs !== undefined) tool.timeoutMs = timeoutMs;
  if (annotations !== undefined) tool.annotations = annotations;
  if (origin !== undefined) tool.origin = origin;
  return tool;
}

function standardChecker(schema: StandardSchema): Tool['check'] {
  const standard = schema['~standard'];
  return (input) => standard.validate(input);
}

/** The arguments of a call are an object, with every provider: the schema of a union, which leaves that to its members, says so too. */
function objectSchema(name: string, inputSchema: JsonSchema): JsonSchema {
  const { type } = inputSchema;
  if (type === undefined) return { ...inputSchema, type: 'object' };
  if ([type].flat().includes('object')) return inputSchema;
  throw new ToolInvalidError(name, `its schema is of type ${JSON.stringify(type)}; arguments are always an object`);
}
