import type { JsonSchema } from '../../internal/json.js';
import type { ModelRequest, ModelSettings, ToolChoice, ToolSpec } from '../../model/model.js';
import { toolParameters, withoutDialect } from '../shared/tool-parameters.js';
import { defined, isObject, objectsIn, textOr, type WireObject, wellFormed } from '../shared/wire.js';
import { toWireConversation } from './messages.js';
import { type Abilities, abilitiesOf } from './models.js';
import { outputSchema } from './schema.js';

/** The body of a request. `settings.providerOptions.anthropic` is merged last: a field that it gives as undefined is not sent. */
export function toWireRequest(request: ModelRequest, model: string): WireObject {
  const { output, settings = {} } = request;
  // Those of mere spaces are refused.
  const stops = settings.stopSequences?.filter((sequence) => sequence.trim() !== '');
  const abilities = abilitiesOf(model);
  const { system, messages, container } = wellFormed(toWireConversation(request.messages, model));
  const schema = output && wellFormed(output.schema);
  const format = schema && abilities.hasOutputFormat ? outputSchema(schema) : undefined;
  const words = schema && !format ? inWords(schema) : '';
  const given = settings.providerOptions?.anthropic ?? {};
  const { thinking, effort } = reasoning(request, abilities, messages);
  const { tools, tool_choice } = wireTools(request, messages);
  const config = defined({ effort, format: format && { type: 'json_schema', schema: format } });
  return defined({
    model,
    max_tokens: maxTokens(settings, abilities),
    system: [system, words].filter(Boolean).join('\n\n') || undefined,
    messages,
    tool_choice,
    ...sampling(settings, abilities, isOn(given.thinking ?? thinking)),
    thinking,
    stop_sequences: stops?.length ? stops : undefined,
    ...given,
    // Whose parts come from several places.
    container: withContainer(container, given),
    tools: withTools(tools, given),
    output_config: withConfig(config, given),
    stream: true,
  });
}

function maxTokens(settings: ModelSettings, abilities: Abilities): number {
  return settings.maxOutputTokens ?? abilities.maxTokens;
}

function withConfig(config: WireObject, given: WireObject): WireObject | undefined {
  const whole = { ...config, ...(isObject(given.output_config) ? given.output_config : {}) };
  return Object.keys(whole).length > 0 ? whole : undefined;
}

/** What was given may name skills alone. */
function withContainer(id: string | undefined, { container: given }: WireObject): unknown {
  return id !== undefined && isObject(given) ? { id, ...given } : (given ?? id);
}

/** For models that cannot be held to a schema, and for schemas that they cannot be held to. The answer is checked in any case. */
function inWords(schema: JsonSchema): string {
  return `Answer with JSON alone, without a word before or after it, that matches this JSON Schema:\n${JSON.stringify(withoutDialect(schema))}`;
}

interface WireTools {
  readonly tools: readonly WireObject[];
  readonly tool_choice?: WireObject | undefined;
}

/** A conversation that has calls is refused without tools, as a last answer without them is asked for. */
function wireTools({ tools, toolChoice }: ModelRequest, messages: readonly WireObject[]): WireTools {
  if (tools.length > 0) return { tools: tools.map(wireTool), tool_choice: wireToolChoice(toolChoice) };
  const blocks = messages.flatMap(({ content }) => objectsIn(content));
  const names = new Set(blocks.filter(({ type }) => type === 'tool_use').map(({ name }) => textOr(name)));
  const schema = { type: 'object', properties: {} };
  const stubs = [...names].map((name) => ({ name, description: 'Not available now.', input_schema: schema }));
  return { tools: stubs, tool_choice: names.size > 0 ? { type: 'none' } : undefined };
}

/**
 * Those that the provider defines stand beside the agent's own. One of the same name takes its place, since the API refuses
 * two: the agent's tool runs its calls.
 */
function withTools(tools: readonly WireObject[], given: WireObject): readonly WireObject[] | undefined {
  const defined = objectsIn(given.tools);
  const own = tools.filter(({ name }) => defined.every((tool) => tool.name !== name));
  const all = [...own, ...defined];
  return all.length > 0 ? all : undefined;
}

function wireTool({ name, description, inputSchema }: ToolSpec): WireObject {
  return wellFormed({ name, description, input_schema: toolParameters(inputSchema) });
}

function wireToolChoice(choice: ToolChoice | undefined): WireObject | undefined {
  if (typeof choice === 'object') return { type: 'tool', name: choice.tool };
  return choice && { type: choice === 'required' ? 'any' : choice };
}

/** A model that thinks takes no sampling, the newest ones none at all, and those before them one of both. */
function sampling({ temperature, topP }: ModelSettings, abilities: Abilities, thinks: boolean): WireObject {
  if (thinks || abilities.sampling === 'none') return {};
  return { temperature, top_p: abilities.sampling === 'one' && temperature !== undefined ? undefined : topP };
}

/** Tokens to think, of which the API wants 1,024 at least. */
const BUDGETS = { minimal: 1024, low: 4096, medium: 10_000, high: 16_000 };
const LEAST_BUDGET = 1024;

interface Reasoning {
  readonly thinking?: WireObject | undefined;
  readonly effort?: string | undefined;
}

/** Where a tool has to be called, or thinking would begin amid a turn, the API refuses that the model be told to think. */
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
  return thinkingOff === 'word' ? { thinking: { type: 'disabled' } } : {};
}

function isOn(thinking: unknown): boolean {
  return isObject(thinking) && thinking.type !== 'disabled';
}

/** Whether results follow calls that the model made without thinking, or that another model made; also once it was paused. */
function isAmidTurn(messages: readonly WireObject[]): boolean {
  const said = messages.at(-1)?.role === 'assistant' ? messages.slice(0, -1) : messages;
  const [asked, last] = said.slice(-2).map(({ content }) => objectsIn(content)[0]?.type);
  return last === 'tool_result' && asked !== 'thinking' && asked !== 'redacted_thinking';
}
