import type { Logger } from '../../internal/logger.js';
import type { ModelRequest, ModelSettings, ToolChoice, ToolSpec } from '../../model/model.js';
import { inWords } from '../shared/output/output-mode.js';
import { acceptedTools } from '../shared/tools/accepted-tools.js';
import { defined, isObject, objectsIn, textOr, type WireObject, wellFormed } from '../shared/wire.js';
import { withCacheMarks } from './cache-marks.js';
import { toWireConversation } from './messages.js';
import { type Abilities, abilitiesOf } from './models.js';
import { ANTHROPIC_TOOLS, acceptedParameters, withWireArguments } from './property-names.js';
import { outputSchema } from './schema.js';
import { withKnownReferences, withSearchTool } from './tool-search.js';

/**
 * Returns the body of a request. Fields of `settings.providerOptions.anthropic` override most other fields; the value
 * `undefined` removes a field.
 */
export function toWireRequest(request: ModelRequest, model: string, logger?: Logger): WireObject {
  const body = unmarkedRequest(request, model, logger);
  const { promptCache } = request.settings ?? {};
  return promptCache === undefined ? body : withCacheMarks(body, promptCache.ttl);
}

function unmarkedRequest(request: ModelRequest, model: string, logger: Logger | undefined): WireObject {
  const { output, settings = {} } = request;
  // The API refuses blank stop sequences.
  const stops = settings.stopSequences?.filter((sequence) => sequence.trim() !== '');
  const abilities = abilitiesOf(model);
  const { system, messages, container } = wellFormed(toWireConversation(request.messages, model));
  const schema = output && wellFormed(output.schema);
  const format = schema && abilities.hasOutputFormat ? outputSchema(schema) : undefined;
  const words = schema && !format ? inWords(schema) : '';
  const given = settings.providerOptions?.anthropic ?? {};
  const { thinking, effort } = reasoning(request, abilities, messages);
  const { tools, tool_choice } = wireTools(request, messages, logger);
  const allTools = withTools(tools, given);
  const config = defined({ effort, format: format && { type: 'json_schema', schema: format } });
  return defined({
    model,
    max_tokens: maxTokens(settings, abilities),
    system: [system, words].filter(Boolean).join('\n\n') || undefined,
    messages: withWireArguments(withKnownReferences(messages, allTools), request.tools),
    tool_choice,
    ...sampling(settings, abilities, isOn(given.thinking ?? thinking)),
    thinking,
    stop_sequences: stops?.length ? stops : undefined,
    ...given,
    // These fields are merged with the user's options and do not replace them.
    container: withContainer(container, given),
    tools: allTools,
    output_config: withConfig(config, given),
    stream: true,
  });
}

function maxTokens(settings: ModelSettings, abilities: Abilities): number {
  return settings.maxOutputTokens ?? abilities.maxTokens;
}

function withConfig(config: WireObject, given: WireObject): WireObject | undefined {
  const own = isObject(given.output_config) ? given.output_config : {};
  const whole = { ...config, ...own };
  return Object.keys(whole).length > 0 ? whole : undefined;
}

/**
 * Adds the id of the container in which server tools continue. The `container` of the application may be an object with
 * skills but no id.
 */
function withContainer(id: string | undefined, { container: given }: WireObject): unknown {
  return id !== undefined && isObject(given) ? { id, ...given } : (given ?? id);
}

interface WireTools {
  readonly tools: readonly WireObject[];
  readonly tool_choice?: WireObject | undefined;
}

/**
 * Returns the tools of a request. If the request has no tools, but earlier messages contain tool calls, returns a
 * placeholder for each called tool. The API refuses such calls in a request without tools.
 */
function wireTools(
  { tools, toolChoice }: ModelRequest,
  messages: readonly WireObject[],
  logger: Logger | undefined,
): WireTools {
  const accepted = acceptedTools(tools, { ...ANTHROPIC_TOOLS, logger }, wireTool);
  if (accepted.length > 0) return { tools: accepted, tool_choice: wireToolChoice(toolChoice) };
  const blocks = messages.flatMap(({ content }) => objectsIn(content));
  const names = new Set(blocks.filter(({ type }) => type === 'tool_use').map(({ name }) => textOr(name)));
  const schema = { type: 'object', properties: {} };
  const stubs = [...names].map((name) => ({ name, description: 'Not available now.', input_schema: schema }));
  return { tools: stubs, tool_choice: names.size > 0 ? { type: 'none' } : undefined };
}

/**
 * Adds the tools from `providerOptions`, such as server tools. A tool of the agent with the same name is left out of
 * the request, because the API refuses duplicates. The agent still runs calls of this name.
 */
function withTools(tools: readonly WireObject[], given: WireObject): readonly WireObject[] | undefined {
  const defined = objectsIn(given.tools);
  const own = tools.filter(({ name }) => defined.every((tool) => tool.name !== name));
  const all = withSearchTool([...own, ...defined]);
  return all.length > 0 ? all : undefined;
}

function wireTool({ name, description, inputSchema, deferred }: ToolSpec): WireObject {
  const input_schema = acceptedParameters(inputSchema);
  return wellFormed(defined({ name, description, input_schema, defer_loading: deferred ? true : undefined }));
}

function wireToolChoice(choice: ToolChoice | undefined): WireObject | undefined {
  if (typeof choice === 'object') return { type: 'tool', name: choice.tool };
  return choice && { type: choice === 'required' ? 'any' : choice };
}

/**
 * Returns `temperature` and `top_p`, as far as the model accepts them. The newest models and requests with thinking
 * accept neither; slightly older models accept only one of them.
 */
function sampling({ temperature, topP }: ModelSettings, abilities: Abilities, thinks: boolean): WireObject {
  if (thinks || abilities.sampling === 'none') return {};
  return { temperature, top_p: abilities.sampling === 'one' && temperature !== undefined ? undefined : topP };
}

/** The number of thinking tokens for each reasoning effort. The API requires at least 1,024. */
const BUDGETS = { minimal: 1024, low: 4096, medium: 10_000, high: 16_000 };
const LEAST_BUDGET = 1024;

interface Reasoning {
  readonly thinking?: WireObject | undefined;
  readonly effort?: string | undefined;
}

/**
 * Returns the fields for thinking and effort. Requests no thinking where the API refuses it: if the request forces a
 * tool call, or in the middle of a turn.
 */
function reasoning(request: ModelRequest, abilities: Abilities, messages: readonly WireObject[]): Reasoning {
  const { tools, toolChoice, settings = {} } = request;
  const { reasoningEffort } = settings;
  const isForced = tools.length > 0 && (typeof toolChoice === 'object' || toolChoice === 'required');
  if (reasoningEffort === undefined || abilities.thinking === 'none') return {};
  if (reasoningEffort === 'none') return notThinking(abilities);
  if (abilities.thinking === 'adaptive') {
    const effort = reasoningEffort === 'minimal' ? 'low' : reasoningEffort;
    return { effort, thinking: isForced ? undefined : { type: 'adaptive' } };
  }
  const half = Math.floor(maxTokens(settings, abilities) / 2);
  const budget = Math.min(BUDGETS[reasoningEffort], half);
  if (budget < LEAST_BUDGET || isForced || (abilities.isClaude && isAmidTurn(messages))) return {};
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

function notThinking({ thinkingOff }: Abilities): Reasoning {
  if (thinkingOff === 'never') return { effort: 'low' };
  return thinkingOff === 'disabled' ? { thinking: { type: 'disabled' } } : {};
}

function isOn(thinking: unknown): boolean {
  return isObject(thinking) && thinking.type !== 'disabled';
}

/**
 * True if the last message has the results of tool calls that the model made without thinking. Ignores a paused answer
 * after it.
 */
function isAmidTurn(messages: readonly WireObject[]): boolean {
  const completed = messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages;
  const [calls, last] = completed.slice(-2).map(({ content }) => objectsIn(content)[0]?.type);
  return last === 'tool_result' && calls !== 'thinking' && calls !== 'redacted_thinking';
}
