import { describeValue, OptionInvalidError, ToolInvalidError } from '../../errors.js';
import { isObject, type JsonSchema } from '../../internal/json.js';
import { anything, required, text } from '../../internal/options/rules.js';
import { type OptionTable, optionProblem } from '../../internal/options/validate.js';
import { defineTool } from '../../tools/define-tool.js';
import type { StandardSchema } from '../../tools/standard-schema.js';
import type { Tool } from '../../tools/tool.js';
import { HANDOFF } from '../../tools/tool-catalog.js';
import type { Agent } from '../agent.js';
import type { RunEngine } from '../run/run-config.js';
import type { Handoff } from './reach.js';

/**
 * Options of `handoff`.
 *
 * @example
 * const billing = new Agent({ name: 'billing', model });
 * const toBilling = handoff(billing, {
 *   name: 'to_billing',
 *   description: 'Hands over questions about invoices.',
 *   input: z.object({ invoice: z.string() }),
 * });
 */
export interface HandoffOptions {
  /** The name of the tool. */
  readonly name: string;
  /** Tells the model when to hand the conversation over. */
  readonly description: string;
  /** The schema of the arguments. The next agent reads them in the tool call. Default: no arguments. */
  readonly input?: StandardSchema | JsonSchema | undefined;
  /** The JSON Schema sent to the model. Required if `input` cannot be converted to JSON Schema (valibot). */
  readonly inputSchema?: JsonSchema | undefined;
}

/** The names of the valid options. `anything` leaves the check of a value to `defineTool`. */
const rules = {
  name: required(anything),
  description: required(text),
  input: anything,
  inputSchema: anything,
} satisfies OptionTable<HandoffOptions>;

/**
 * Makes a tool that hands the conversation over to another agent, in the same run. First, the other tool calls of the
 * turn end, and the `afterAgent` hooks of the first agent run.
 *
 * Then the other agent continues with its own model, instructions, tools and lifecycles. It reads the whole
 * conversation. The options and limits of the run stay in force.
 *
 * If two agents hand over to each other, pass one of them as a function, which is called at the handover. All agents of
 * a conversation need different names.
 *
 * @example
 * const triage: Agent = new Agent({
 *   name: 'triage',
 *   model,
 *   tools: [handoff(() => billing, { name: 'to_billing', description: 'Hands over questions about invoices.' })],
 * });
 * const billing = new Agent({
 *   name: 'billing',
 *   model,
 *   tools: [handoff(triage, { name: 'to_triage', description: 'Hands over everything else.' })],
 * });
 */
export function handoff<Context = unknown>(
  agent: Agent<Context> | (() => Agent<Context>),
  options: HandoffOptions,
): Tool<Context> {
  const problem = optionProblem(options, rules);
  if (problem !== undefined) throw new ToolInvalidError(String(Object(options).name), problem.message);
  const resolve = typeof agent === 'function' ? () => engineOf(agent()) : () => engineOf(agent);
  if (typeof agent !== 'function') resolve();
  const { name, description, input = NO_INPUT, inputSchema } = options;
  const load = () => import('./hand-over.js');
  const tool = defineTool({
    name,
    description,
    input,
    inputSchema,
    origin: 'handoff',
    execute: async (_input, context) => {
      const { admit } = await load();
      const engine = resolve();
      admit(engine, context);
      return `The conversation continues with ${JSON.stringify(engine.name)}.`;
    },
  });
  const member: Handoff = { target: resolve, load };
  return Object.assign(tool, { [HANDOFF]: member });
}

/** Reads the private implementation of an agent. The agent may come from another copy of this library. */
function engineOf(agent: unknown): RunEngine {
  const { engine } = Object(agent) as { readonly engine?: RunEngine };
  if (isObject(engine) && typeof (engine as unknown as RunEngine).configFor === 'function') return engine;
  const expected = 'an `Agent`, or a function that returns one';
  throw new OptionInvalidError('agent', `\`agent\` must be ${expected}, got ${describeValue(agent)}`);
}

/** The Standard Schema of no arguments, written by hand so that no schema library is loaded. */
const NO_INPUT: StandardSchema<object> = {
  '~standard': {
    version: 1,
    vendor: 'keelson',
    validate: () => ({ value: {} }),
    jsonSchema: { input: noArguments, output: noArguments },
  },
};

function noArguments(): Record<string, unknown> {
  return { type: 'object', properties: {}, additionalProperties: false };
}
