import type { AssistantMessage } from '../../model/message.js';
import type { Model, ModelRequest, ModelResponse } from '../../model/model.js';
import { addUsage } from '../../model/usage.js';
import { isObject, objectsIn, type WireObject } from './wire.js';

/** More than the longest search takes. Then what came is given as it is. */
const MOST_PAUSES = 10;

/**
 * Anthropic pauses an answer for which its own tools take long, and wants to be asked again with what it said. That is done
 * here, and gives one answer: half of one would end a run.
 */
export async function throughPauses(request: ModelRequest, generate: Model['generate']): Promise<ModelResponse> {
  let answer = await generate(request);
  for (let pauses = 0; isPaused(answer) && pauses < MOST_PAUSES; pauses += 1) {
    const said: AssistantMessage = { role: 'assistant', content: answer.content };
    const messages = [...request.messages, said];
    answer = joined(answer, await generate({ ...request, messages, settings: settingsAfter(answer, request) }));
  }
  return answer;
}

/** Not where a call waits for its result: only a run can go on from there. */
function isPaused({ content, providerMetadata = {} }: ModelResponse): boolean {
  const { anthropic, aiSdk } = providerMetadata;
  const word = isObject(aiSdk) ? aiSdk.finishReason : isObject(anthropic) && anthropic.stop_reason;
  if (word !== 'pause_turn' || content.length === 0) return false;
  return content.every((part) => part.type !== 'tool-call' || part.providerExecuted);
}

/** By the AI SDK, the container in which an answer ran is an option. Otherwise its calls remember where they ran. */
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
  const usage = { ...first.usage };
  addUsage(usage, second.usage);
  const sources = [first, second].flatMap(sourcesOf);
  const { providerMetadata } = second;
  return {
    ...second,
    content: [...first.content, ...second.content],
    usage,
    ...(sources.length > 0 && { providerMetadata: { ...providerMetadata, aiSdk: { ...aiSdkOf(second), sources } } }),
  };
}

/** What the AI SDK tells beside an answer: all of it is of the last word, but for the sources. */
function sourcesOf(answer: ModelResponse): readonly WireObject[] {
  return objectsIn(aiSdkOf(answer).sources);
}

function aiSdkOf({ providerMetadata }: ModelResponse): WireObject {
  const aiSdk = providerMetadata?.aiSdk;
  return isObject(aiSdk) ? aiSdk : {};
}
