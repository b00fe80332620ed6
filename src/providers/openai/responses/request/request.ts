import type { JsonSchema } from '../../../../internal/json.js';
import type { Logger } from '../../../../internal/logger.js';
import type { ModelRequest, ModelSettings, ToolChoice, ToolSpec } from '../../../../model/model.js';
import { acceptedTools } from '../../../shared/tools/accepted-tools.js';
import { toolParameters, withoutDialect } from '../../../shared/tools/tool-parameters.js';
import { defined, hasFields, isObject, objectsIn, textOr, type WireObject, wellFormed } from '../../../shared/wire.js';
import { reasons } from '../../model-names.js';
import { isStrictSchema, OPENAI_TOOLS } from '../../schema.js';
import { customOf } from '../custom-tool.js';
import { toInput } from './input.js';

/** The model that receives a request, with the options that apply to it. */
export interface RequestTarget {
  readonly model: string;
  /** The tools that OpenAI defines, from the option `tools`. */
  readonly tools: readonly object[];
  readonly previousResponseId: boolean;
  /** Receives a warning for each tool that is left out because OpenAI would refuse it. Default: the console. */
  readonly logger?: Logger | undefined;
}

const ENCRYPTED = 'reasoning.encrypted_content';

/**
 * Returns the body of a request with the whole conversation. Fields of `settings.providerOptions.openai` override all
 * other fields except `stream`; the value `undefined` removes a field.
 *
 * The `tools` and `include` of these options are added to the arrays of the request. Their `text` and `reasoning` are
 * merged with the objects of the request.
 */
export function toResponsesRequest(request: ModelRequest, target: RequestTarget): WireObject {
  const { messages, toolChoice, output, settings = {}, onPart } = request;
  const { tools: more, include, text, reasoning, ...given } = settings.providerOptions?.openai ?? {};
  const store = given.store ?? (target.previousResponseId || given.background === true);
  const hosted = [...objectsIn(target.tools), ...objectsIn(more)];
  const tools = wireTools(request.tools, { defined: hosted, logger: target.logger });
  const systemRole = reasons(target.model) ? 'developer' : 'system';
  return defined({
    model: target.model,
    input: toInput(messages, { model: target.model, systemRole, isStored: store === true }),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? wireToolChoice(toolChoice, tools) : undefined,
    ...wireSettings(settings, target.model),
    text: merged(output && { format: textFormat(output.schema) }, text),
    reasoning: merged(effortOf(settings, target.model), reasoning),
    include: includes(tools, { ...settings.providerOptions?.openai, model: target.model }),
    store,
    ...given,
    stream: onPart && given.background !== true ? true : undefined,
  });
}

/** The tools that OpenAI defines, and the logger for warnings. */
interface OwnTools {
  readonly defined: readonly WireObject[];
  readonly logger?: Logger | undefined;
}

/**
 * Returns the tools of a request. A tool that OpenAI defines replaces the agent's tool of the same name in the request.
 * A tool that OpenAI would refuse is left out with a warning.
 */
function wireTools(tools: readonly ToolSpec[], { defined: hosted, logger }: OwnTools): readonly WireObject[] {
  const names = new Set(hosted.flatMap(namesOf));
  const own = tools.filter(({ name }) => !names.has(name));
  const most = OPENAI_TOOLS.most - hosted.length;
  return [...acceptedTools(own, { ...OPENAI_TOOLS, most, logger }, wireTool), ...hosted];
}

function wireTool(tool: ToolSpec): WireObject {
  const { name, description } = tool;
  const custom = customOf(tool);
  if (custom !== undefined) return defined({ type: 'custom', name, description, format: custom.format });
  const parameters = toolParameters(tool.inputSchema);
  // Without `strict`, the API would change the schema to make it strict.
  return wellFormed({ type: 'function', name, description, parameters, strict: isStrictSchema(parameters) });
}

/** Returns the names under which the agent receives the calls of a tool. One tool may have several. */
function namesOf({ type, name, tools }: WireObject): readonly string[] {
  if (type === 'namespace') return objectsIn(tools).flatMap(namesOf);
  if (textOr(name) !== '') return [textOr(name)];
  return [textOr(type).startsWith('computer') ? 'computer' : textOr(type)];
}

/** Returns the tool choice in the form that the type of the chosen tool requires. */
function wireToolChoice(choice: ToolChoice | undefined, tools: readonly WireObject[]): unknown {
  if (typeof choice !== 'object') return choice;
  const { tool: name } = choice;
  const chosen = tools.find((tool) => namesOf(tool).includes(name) && tool.type !== 'namespace');
  const { type } = chosen ?? { type: 'function' };
  return type === 'function' || type === 'custom' ? { type, name } : { type };
}

/**
 * Returns the settings that the model accepts. Reasoning models refuse `temperature` and `top_p`, unless their
 * reasoning is off.
 */
function wireSettings(
  { temperature, topP, maxOutputTokens, reasoningEffort }: ModelSettings,
  model: string,
): WireObject {
  const sampling = !reasons(model) || reasoningEffort === 'none' ? { temperature, top_p: topP } : {};
  return { ...sampling, max_output_tokens: maxOutputTokens };
}

function effortOf({ reasoningEffort: effort }: ModelSettings, model: string): WireObject | undefined {
  return effort === undefined || reasons(model) === false ? undefined : { effort };
}

function merged(own: WireObject | undefined, given: unknown): WireObject | undefined {
  const both = { ...own, ...(isObject(given) && given) };
  return hasFields(both) ? both : undefined;
}

function textFormat(given: JsonSchema): WireObject {
  const schema = wellFormed(withoutDialect(given));
  return { type: 'json_schema', name: 'output', schema, strict: isStrictSchema(schema) };
}

/**
 * Returns the names of the data that the response must include. The next request or the metadata of the response needs
 * them.
 */
function includes(tools: readonly WireObject[], given: WireObject): readonly unknown[] | undefined {
  const types = new Set(tools.map(({ type }) => String(type).replace(/_preview.*|_\d{4}.*/, '')));
  const all = new Set<unknown>(Array.isArray(given.include) ? given.include : []);
  if (reasons(String(given.model)) !== false) all.add(ENCRYPTED);
  if (types.has('web_search')) all.add('web_search_call.action.sources');
  if (types.has('code_interpreter')) all.add('code_interpreter_call.outputs');
  if (typeof given.top_logprobs === 'number') all.add('message.output_text.logprobs');
  return all.size > 0 ? [...all] : undefined;
}

/** Returns the body without the request for encrypted reasoning. Models that do not reason refuse such a request. */
export function withoutEncryption(body: WireObject): WireObject {
  const include = Array.isArray(body.include) ? body.include.filter((name) => name !== ENCRYPTED) : [];
  return defined({ ...body, include: include.length > 0 ? include : undefined });
}

/** Returns the body without the reasoning of earlier responses. Used if the server cannot decrypt this reasoning. */
export function withoutReasoning(body: WireObject): WireObject {
  return { ...body, input: objectsIn(body.input).filter(({ type }) => type !== 'reasoning') };
}
