import { ToolInvalidError } from '../../../errors.js';
import { isObject } from '../../../internal/json.js';
import { anything, callable, object, required, text, timerMs } from '../../../internal/options/rules.js';
import { type OptionTable, optionProblem } from '../../../internal/options/validate.js';
import type { Awaitable } from '../../../internal/promise.js';
import type { Tool, ToolAnnotations, ToolContext, ToolOutput } from '../../../tools/tool.js';

/** The format of a custom tool's input: any text, or the language of a grammar. */
type CustomToolFormat =
  | { readonly type: 'text' }
  | { readonly type: 'grammar'; readonly syntax: 'lark' | 'regex'; readonly definition: string };

/** The definition of a tool whose input is a string, for {@link customTool}. */
export interface CustomToolDefinition<Context = unknown> {
  /** 1 to 64 letters, digits, `_` or `-`. */
  readonly name: string;
  /** Tells the model what the tool does and when to call it. */
  readonly description: string;
  /** The format of the input. Default: any text. */
  readonly format?: CustomToolFormat | undefined;
  /** Time limit of one call, in milliseconds. Default: the agent's `timeouts.toolMs`. */
  readonly timeoutMs?: number | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** Runs the tool with the string that the model wrote as its input. */
  readonly execute: (input: string, context: ToolContext<Context>) => Awaitable<ToolOutput>;
}

/** A tool whose input is a string instead of JSON. */
export interface CustomTool<Context = unknown> extends Tool<Context> {
  readonly custom: { readonly format?: CustomToolFormat | undefined };
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const rules = {
  name: required({ expected: '1 to 64 letters, digits, `_` or `-`', accepts: (value) => NAME.test(String(value)) }),
  description: required(text),
  format: object,
  timeoutMs: timerMs,
  annotations: anything,
  execute: required(callable),
} satisfies OptionTable<CustomToolDefinition>;

/**
 * Creates a tool whose input is a string instead of JSON, such as code or a query. With other providers and with chat
 * completions, the tool is a function with one argument `input`.
 *
 * Throws a ToolInvalidError if the definition is invalid.
 *
 * @example
 * const sql = customTool({
 *   name: 'sql',
 *   description: 'Runs one SQL statement.',
 *   execute: (statement) => `No rows match ${statement}`,
 * });
 */
export function customTool<Context = unknown>(definition: CustomToolDefinition<Context>): CustomTool<Context> {
  const problem = optionProblem(definition, rules);
  if (problem !== undefined) throw new ToolInvalidError(String(Object(definition).name), problem.message);
  const { format, execute, ...described } = definition;
  return {
    ...described,
    custom: format === undefined ? {} : { format },
    inputSchema: {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    },
    check: (given) => {
      const value = isObject(given) ? given.input : given;
      return typeof value === 'string' ? { value } : { issues: [{ message: 'expected a string' }] };
    },
    execute: (input, context) => execute(input as string, context),
  };
}

/** Returns the `custom` field of a custom tool. Returns undefined for any other tool. */
export function customOf(tool: object): CustomTool['custom'] | undefined {
  const { custom } = tool as Partial<CustomTool>;
  return isObject(custom) ? custom : undefined;
}
