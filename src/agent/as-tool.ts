import { describeError, ToolInvalidError } from '../errors.js';
import type { JsonSchema } from '../internal/json.js';
import { anything, callable, required, text } from '../internal/options/rules.js';
import { type OptionTable, optionProblem } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import type { ResumedInside } from '../lifecycle/hook-run/run-end.js';
import { textOf, toolCallsOf } from '../model/message.js';
import { defineTool, type InputOf } from '../tools/define-tool.js';
import type { StandardSchema } from '../tools/standard-schema.js';
import type { Tool } from '../tools/tool.js';
import { toolResult } from '../tools/tool-result.js';
import { type FindTool, rememberAgent } from '../tools/tool-set.js';
import type { AgentEvent } from './agent-event.js';
import type { AnyRunOptions } from './agent-options.js';
import { outerCallOf } from './run/outer-call.js';
import type { ResumeDecisions } from './run/resume/continuation.js';
import type { RunResult } from './run-result.js';

/** Options of `agent.asTool`. */
export interface AsToolOptions<Schema extends StandardSchema | JsonSchema = PromptSchema> {
  /** The name of the tool. Default: the agent's name. */
  readonly name?: string | undefined;
  /** Tells the calling model what the agent does. */
  readonly description: string;
  /** The schema of the arguments that the calling model passes. Default: `{ prompt: string }`. */
  readonly input?: Schema | undefined;
  /** The JSON Schema sent to the model. Required if `input` cannot be converted to JSON Schema (valibot). */
  readonly inputSchema?: JsonSchema | undefined;
  /** Converts the arguments to the agent's input. Default: `prompt` if it is a string, else the arguments as JSON. */
  readonly toPrompt?: ((input: InputOf<Schema>) => string) | undefined;
  readonly timeoutMs?: number | undefined;
  /** Called with every event of the nested runs, each with its `path`. An error of the function is logged. */
  readonly onEvent?: ((event: AgentEvent) => Awaitable<void>) | undefined;
}

/** The default schema of the arguments. */
export type PromptSchema = StandardSchema<{ prompt: string }>;

/** Starts a nested run, and passes its events to `onEvent`. */
export type StartRun = (
  input: string,
  options: AnyRunOptions,
  onEvent: AsToolOptions['onEvent'],
) => Promise<RunResult<unknown>>;

/** The names of the valid options. `anything` leaves the check of a value to `defineTool`. */
const rules = {
  name: anything,
  description: required(text),
  input: anything,
  inputSchema: anything,
  toPrompt: callable,
  timeoutMs: anything,
  onEvent: callable,
} satisfies OptionTable<AsToolOptions>;

/** The agent that a tool runs. */
export interface ToolAgent {
  readonly name: string;
  readonly findTool: FindTool;
  readonly run: StartRun;
}

/** Makes a tool that runs an agent in a nested run. If the nested run is suspended, the tool call waits. */
export function agentTool(
  { name: agent, findTool, run }: ToolAgent,
  options: AsToolOptions<StandardSchema | JsonSchema>,
): Tool {
  const problem = optionProblem(options, rules);
  if (problem !== undefined) throw new ToolInvalidError(String(Object(options).name ?? agent), problem.message);
  const { name = agent, description, input = PROMPT, inputSchema, timeoutMs, onEvent } = options;
  const toPrompt = options.toPrompt ?? ((args: unknown) => promptIn(args) ?? JSON.stringify(args));
  const tool = defineTool({
    name,
    description,
    input,
    inputSchema,
    timeoutMs,
    origin: `agent ${agent}`,
    execute: async (args, context) => {
      const { run: parent } = context;
      const call = outerCallOf(parent);
      // A nested run follows the signal of its tool call without this.
      const signal = call === undefined ? context.signal : undefined;
      const earlier = call?.goOn();
      const answer = earlier && answerOf(earlier);
      if (answer !== undefined) return answer;
      try {
        const goOn = earlier && { messages: earlier.run.messages, resume: earlier.decisions as ResumeDecisions };
        const runOptions = { signal, parent, context: context.context as never, ...goOn };
        const result = await run(earlier ? '' : toPrompt(args), runOptions, onEvent);
        if (result.status === 'completed') return result.text;
        call?.wait();
        const content = `Agent "${agent}" was suspended, but this call cannot wait for a decision.`;
        return toolResult({ content, isError: true });
      } catch (error) {
        return toolResult({ content: `Agent "${agent}" failed: ${describeError(error)}`, isError: true });
      }
    },
  });
  rememberAgent(tool, findTool);
  return tool;
}

/** Returns the answer of a repeated nested run that had already ended before its process stopped. */
function answerOf({ run, decisions }: ResumedInside): string | undefined {
  const last = run.messages.at(-1);
  const isAnswer = last?.role === 'assistant' && !last.suspended && toolCallsOf(last).length === 0;
  return decisions === undefined && isAnswer ? textOf(last) : undefined;
}

function promptIn(input: unknown): string | undefined {
  const { prompt } = Object(input) as { prompt?: unknown };
  return typeof prompt === 'string' ? prompt : undefined;
}

/** The Standard Schema of `{ prompt: string }`, written by hand so that no schema library is loaded. */
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
    properties: { prompt: { type: 'string', description: 'The task of the agent, with all that it has to know.' } },
    required: ['prompt'],
    additionalProperties: false,
  };
}
