import { describeError } from '../errors.js';
import type { JsonSchema } from '../internal/json.js';
import { RUN } from '../lifecycle/hook-run.js';
import { RunError } from '../model/run-error.js';
import { addUsage } from '../model/usage.js';
import { defineTool, type ToolInput } from '../tools/define-tool.js';
import type { StandardSchema } from '../tools/standard-schema.js';
import type { Tool, ToolContext } from '../tools/tool.js';
import { toolResult } from '../tools/tool-result.js';
import type { AnyRunOptions } from './agent-options.js';
import { RunView } from './run/run.js';
import type { RunResult } from './run-result.js';

/** How an agent is offered to another one. */
export interface AsToolOptions<Schema extends StandardSchema | JsonSchema = PromptSchema> {
  /** Default: the agent's name. */
  readonly name?: string | undefined;
  /** Tells the calling model what this agent is for. */
  readonly description: string;
  /** The arguments. Default: `{ prompt: string }`. */
  readonly input?: Schema | undefined;
  /** The JSON Schema shown to the model, for an `input` that cannot give its own (valibot). */
  readonly inputSchema?: JsonSchema | undefined;
  /** Makes the agent's input of the arguments. Default: `prompt`, or the arguments as JSON. */
  readonly toPrompt?: ((input: ToolInput<Schema>) => string) | undefined;
  readonly timeoutMs?: number | undefined;
}

/** What an agent takes as a tool unless it is told otherwise. */
export type PromptSchema = StandardSchema<{ prompt: string }>;

type StartRun = (input: string, options: AnyRunOptions) => Promise<RunResult<unknown>>;

/** Makes a tool that runs an agent as a part of the calling run. */
export function agentTool(agent: string, run: StartRun, options: AsToolOptions<StandardSchema | JsonSchema>): Tool {
  const { description, input = PROMPT, inputSchema, toPrompt = defaultPrompt, timeoutMs, name = agent } = options ?? {};
  return defineTool({
    name,
    description,
    input,
    inputSchema,
    timeoutMs,
    origin: `agent ${agent}`,
    execute: async (args, context) => {
      const { run: parent, signal } = context;
      try {
        const result = await run(toPrompt(args), { signal, parent, context: context.context as never });
        countUsage(context, result);
        if (result.status === 'completed') return result.text;
        return toolResult({
          content: `Agent "${agent}" stopped to wait for a decision, which a tool call cannot.`,
          isError: true,
        });
      } catch (error) {
        if (error instanceof RunError) countUsage(context, error);
        return toolResult({ content: `Agent "${agent}" failed: ${describeError(error)}`, isError: true });
      }
    },
  });
}

function countUsage({ run }: ToolContext, { usage }: Pick<RunResult, 'usage'>): void {
  if (run instanceof RunView && !run[RUN].end.over) addUsage(run[RUN].usage, usage);
}

function defaultPrompt(input: unknown): string {
  return promptIn(input) ?? JSON.stringify(input);
}

function promptIn(input: unknown): string | undefined {
  const { prompt } = Object(input) as { prompt?: unknown };
  return typeof prompt === 'string' ? prompt : undefined;
}

/** `{ prompt: string }` as a Standard Schema, so that no schema library is loaded for it. */
const PROMPT: PromptSchema = {
  '~standard': {
    version: 1,
    vendor: 'keelson',
    validate(value) {
      const prompt = promptIn(value);
      return prompt === undefined
        ? { issues: [{ message: 'expected a string', path: ['prompt'] }] }
        : { value: { prompt } };
    },
    jsonSchema: { input: promptSchema, output: promptSchema },
  },
};

function promptSchema(): Record<string, unknown> {
  return {
    type: 'object',
    properties: { prompt: { type: 'string', description: 'What the agent is to do, with all it has to know.' } },
    required: ['prompt'],
    additionalProperties: false,
  };
}
