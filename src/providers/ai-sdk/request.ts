import type { ModelRequest, ModelSettings } from '../../model/model.js';
import { isStrictSchema } from '../openai/schema.js';
import { withoutDialect } from '../shared/tools/tool-parameters.js';
import { defined, hasFields, isObject, type WireObject, wellFormed } from '../shared/wire.js';
import { withCacheMarks } from './cache-marks.js';
import { type AiSdkDownloader, downloadsFor } from './file.js';
import { type AiSdkModel, familyOf, isOpenAI } from './model.js';
import { toPrompt } from './prompt.js';
import { toolOptions, withSentArguments } from './tools.js';

/** The model that receives a request, and the options of `aiSdk()` that apply to it. */
export interface CallTarget {
  readonly model: AiSdkModel;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly providerTools?: Readonly<Record<string, object>> | undefined;
  readonly download?: AiSdkDownloader | undefined;
}

/** Returns the options for a call of `doGenerate` or `doStream`, the two methods of an AI SDK model. */
export async function toCallOptions(request: ModelRequest, target: CallTarget): Promise<WireObject> {
  const { messages, output, settings = {}, signal } = request;
  const { model, download, headers } = target;
  const downloads = await downloadsFor(messages, { model, download, signal });
  const schema = output && wellFormed(withoutDialect(output.schema));
  const tools = toolOptions(request, target);
  const prompt = toPrompt(messages, { model, downloads, providerTools: target.providerTools });
  const options = defined({
    prompt: withSentArguments(prompt, request, target),
    ...tools,
    responseFormat: schema && { type: 'json', schema, name: 'output' },
    ...settingOptions(settings, model),
    providerOptions: providerOptions(request, model),
    headers: headers && { ...headers },
    abortSignal: signal,
  });
  return settings.promptCache === undefined ? options : withCacheMarks(options, model, settings.promptCache.ttl);
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
 * Returns provider options for settings that the AI SDK specification lacks. Turns strict mode off for a schema that
 * does not meet its rules, because the provider uses strict mode by default and OpenAI would refuse the schema.
 */
function providerOptions({ settings = {}, output }: ModelRequest, model: AiSdkModel): WireObject | undefined {
  const { provider, specificationVersion } = model;
  const name = isOpenAI(model) ? 'openai' : familyOf(provider);
  const own = defined({
    reasoningEffort: effortOption(settings.reasoningEffort, name, specificationVersion),
    strictJsonSchema: isOpenAI(model) && output && !isStrictSchema(withoutDialect(output.schema)) ? false : undefined,
  });
  const given = settings.providerOptions ?? {};
  const options = hasFields(own) ? { ...given, [name]: { ...own, ...(isObject(given[name]) && given[name]) } } : given;
  return hasFields(options) ? options : undefined;
}

type Effort = ModelSettings['reasoningEffort'];

/** Returns the nearest reasoning effort that the provider accepts, because some providers refuse unknown values. */
function effortOption(effort: Effort, name: string, version: AiSdkModel['specificationVersion']): Effort {
  if (effort === undefined || version === 'v4') return undefined;
  if (name === 'mistral') return effort === 'none' ? 'none' : 'high';
  if (!['groq', 'xai', 'deepseek'].includes(name)) return effort;
  const isRefused = name === 'deepseek' || (name === 'xai' && version === 'v2');
  if (effort === 'none') return isRefused ? undefined : 'none';
  return effort === 'minimal' ? 'low' : effort;
}
