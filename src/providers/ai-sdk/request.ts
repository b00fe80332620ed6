import type { ModelRequest, ModelSettings, ToolSpec } from '../../model/model.js';
import { isStrictSchema } from '../openai/schema.js';
import { acceptedTools } from '../shared/tools/accepted-tools.js';
import { toolParameters, withoutDialect } from '../shared/tools/tool-parameters.js';
import { defined, hasFields, isObject, type WireObject, wellFormed } from '../shared/wire.js';
import { withCacheMarks } from './cache-marks.js';
import { type AiSdkDownloader, downloadsFor } from './file.js';
import type { AiSdkModel } from './model.js';
import { toPrompt } from './prompt.js';

/** The model and options of a call, beside the request. */
export interface CallTarget {
  readonly model: AiSdkModel;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly providerTools?: Readonly<Record<string, object>> | undefined;
  readonly download?: AiSdkDownloader | undefined;
}

/** Returns the options of `doGenerate` and `doStream`. */
export async function toCallOptions(request: ModelRequest, target: CallTarget): Promise<WireObject> {
  const { messages, output, settings = {}, signal } = request;
  const { model, download, headers } = target;
  const downloads = await downloadsFor(messages, { model, download, signal });
  const schema = output && wellFormed(withoutDialect(output.schema));
  const options = defined({
    prompt: toPrompt(messages, { model, downloads, providerTools: target.providerTools }),
    ...toolOptions(request, target),
    responseFormat: schema && { type: 'json', schema, name: 'output' },
    ...settingOptions(settings, model),
    providerOptions: providerOptions(request, model),
    headers: headers && { ...headers },
    abortSignal: signal,
  });
  return settings.promptCache === undefined ? options : withCacheMarks(options, model, settings.promptCache.ttl);
}

/**
 * Returns the tool options. A provider tool replaces the function tool of its name in the request.
 * The agent's tool still executes calls that the provider does not.
 */
function toolOptions({ tools, toolChoice }: ModelRequest, { model, providerTools = {} }: CallTarget): WireObject {
  const defined = Object.entries(providerTools).map(([name, tool]) => providerTool(name, tool, model));
  const own = tools.filter(({ name }) => !Object.hasOwn(providerTools, name));
  const functions = acceptedTools(own, { provider: familyOf(model.provider) }, functionTool);
  if (defined.length + functions.length === 0) return {};
  const choice = typeof toolChoice === 'object' ? { type: 'tool', toolName: toolChoice.tool } : { type: toolChoice };
  return { tools: [...functions, ...defined], ...(toolChoice && { toolChoice: choice }) };
}

function functionTool({ name, description, inputSchema }: ToolSpec): WireObject {
  return wellFormed({ type: 'function', name, description, inputSchema: toolParameters(inputSchema) });
}

function providerTool(name: string, tool: object, { specificationVersion }: AiSdkModel): WireObject {
  const { id, args } = tool as WireObject;
  return { type: specificationVersion === 'v2' ? 'provider-defined' : 'provider', id, name, args: args ?? {} };
}

function settingOptions(settings: ModelSettings, { specificationVersion }: AiSdkModel): WireObject {
  return {
    temperature: settings.temperature,
    topP: settings.topP,
    maxOutputTokens: settings.maxOutputTokens,
    stopSequences: settings.stopSequences?.length ? [...settings.stopSequences] : undefined,
    seed: settings.seed,
    presencePenalty: settings.presencePenalty,
    frequencyPenalty: settings.frequencyPenalty,
    reasoning: specificationVersion === 'v4' ? settings.reasoningEffort : undefined,
  };
}

/**
 * Returns provider options for settings that the specification lacks.
 * OpenAI's provider uses strict schemas by default, and OpenAI refuses a schema that is not strict, so strict mode is
 * turned off for it.
 */
function providerOptions({ settings = {}, output }: ModelRequest, model: AiSdkModel): WireObject | undefined {
  const { provider, specificationVersion } = model;
  const isOpenAI = /^(openai|azure)\b/.test(provider);
  const name = isOpenAI ? 'openai' : familyOf(provider);
  const own = defined({
    reasoningEffort: effortOption(settings.reasoningEffort, name, specificationVersion),
    strictJsonSchema: isOpenAI && output && !isStrictSchema(withoutDialect(output.schema)) ? false : undefined,
  });
  const given = settings.providerOptions ?? {};
  const options = hasFields(own) ? { ...given, [name]: { ...own, ...(isObject(given[name]) && given[name]) } } : given;
  return hasFields(options) ? options : undefined;
}

type Effort = ModelSettings['reasoningEffort'];

/** Returns the nearest reasoning effort that the provider accepts; some refuse unknown values. */
function effortOption(effort: Effort, name: string, version: AiSdkModel['specificationVersion']): Effort {
  if (effort === undefined || version === 'v4') return undefined;
  if (name === 'mistral') return effort === 'none' ? 'none' : 'high';
  if (!['groq', 'xai', 'deepseek'].includes(name)) return effort;
  const isRefused = name === 'deepseek' || (name === 'xai' && version === 'v2');
  if (effort === 'none') return isRefused ? undefined : 'none';
  return effort === 'minimal' ? 'low' : effort;
}

/** Returns the key of provider options and metadata: `openai` for `openai.responses`. */
export function familyOf(provider: string): string {
  return provider.split('.', 1)[0] ?? provider;
}
