import type { AssistantMessage } from '../../model/message.js';
import type { Model, ModelRequest, ModelResponse } from '../../model/model.js';
import { addUsage } from '../../model/usage.js';
import { isObject, objectsIn, type WireObject } from './wire.js';

/**
 * The largest number of pauses in one answer. After more, the incomplete answer is returned. No known search pauses
 * this often.
 */
const MOST_PAUSES = 10;

/**
 * Makes a model call, and continues its answer as often as the provider pauses it. Returns one response with all parts.
 *
 * Anthropic pauses an answer while its own tools run for long. Without this function, the run would end with a partial
 * answer.
 */
export async function throughPauses(request: ModelRequest, generate: Model['generate']): Promise<ModelResponse> {
  let answer = await generate(request);
  for (let pauses = 0; isPaused(answer) && pauses < MOST_PAUSES; pauses += 1) {
    const assistant: AssistantMessage = { role: 'assistant', content: answer.content };
    const messages = [...request.messages, assistant];
    const { signal } = request;
    const settings = settingsAfter(answer, request);
    answer = joined(answer, await generate({ ...request, signal, messages, settings }));
  }
  return answer;
}

/** True if the provider has paused the answer. False if the run must first run a tool of the agent. */
function isPaused({ content, providerMetadata = {} }: ModelResponse): boolean {
  const { anthropic, aiSdk } = providerMetadata;
  const finishReason = isObject(aiSdk) ? aiSdk.finishReason : isObject(anthropic) && anthropic.stop_reason;
  if (finishReason !== 'pause_turn' || content.length === 0) return false;
  return content.every((part) => part.type !== 'tool-call' || part.providerExecuted);
}

/**
 * Adds the container of the paused answer to the provider options for the AI SDK, so that Anthropic continues in it.
 * Keelson's own adapter does not need this, because it reads the container from the tool calls.
 */
function settingsAfter({ providerMetadata = {} }: ModelResponse, { settings }: ModelRequest): ModelRequest['settings'] {
  const { anthropic, aiSdk } = providerMetadata;
  const container = aiSdk && isObject(anthropic) && isObject(anthropic.container) ? anthropic.container : {};
  if (typeof container.id !== 'string') return settings;
  const given = settings?.providerOptions?.anthropic;
  const own = { id: container.id, ...(isObject(given?.container) && given.container) };
  const providerOptions = { ...settings?.providerOptions, anthropic: { ...given, container: own } };
  return { ...settings, providerOptions };
}

function joined(first: ModelResponse, second: ModelResponse): ModelResponse {
  const sum = { ...first.usage };
  addUsage(sum, second.usage);
  const { inputTokens, outputTokens, contextTokens = inputTokens + outputTokens } = second.usage;
  const usage = { ...sum, contextTokens };
  const sources = [first, second].flatMap(sourcesOf);
  const { providerMetadata } = second;
  const both = { ...second, content: [...first.content, ...second.content], usage };
  if (sources.length === 0) return both;
  return { ...both, providerMetadata: { ...providerMetadata, aiSdk: { ...aiSdkOf(second), sources } } };
}

/**
 * Returns the sources that a response cites, from its AI SDK metadata. A continued answer lists the sources of all its
 * responses, but has all other metadata from the last one.
 */
function sourcesOf(answer: ModelResponse): readonly WireObject[] {
  return objectsIn(aiSdkOf(answer).sources);
}

function aiSdkOf({ providerMetadata }: ModelResponse): WireObject {
  const aiSdk = providerMetadata?.aiSdk;
  return isObject(aiSdk) ? aiSdk : {};
}
