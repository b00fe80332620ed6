import { MISTRAL_MODEL } from '../openai/limits.js';
import { acceptedName, CallIds, MISTRAL_IDS, OPENAI_IDS, PLAIN_IDS, withTurns } from '../shared/call-ids.js';
import { objectsIn, textOr, type WireObject } from '../shared/wire.js';
import type { AiSdkModel } from './model.js';
import { speaksChat } from './result.js';

const LONGEST_NAME = 64;
const OPENAI_CHAT = /^(openai|azure)\b/;

/**
 * A prompt that is not refused for what another provider left in it: ids that are none here, or are there twice, and
 * names. Other servers of chat completions than OpenAI's take any, and some want their own back as they gave them;
 * Mistral's models insist on more, whoever serves them.
 */
export function withAcceptedCalls(prompt: readonly WireObject[], model: AiSdkModel): readonly WireObject[] {
  const isMistral = model.provider.startsWith('mistral') || MISTRAL_MODEL.test(model.modelId);
  if (isMistral) return withTurns(withIds(prompt, new CallIds(MISTRAL_IDS)), [{ type: 'text', text: 'OK.' }]);
  if (!speaksChat(model.provider)) return withIds(prompt, new CallIds(PLAIN_IDS));
  return OPENAI_CHAT.test(model.provider) ? withIds(prompt, new CallIds(OPENAI_IDS)) : prompt;
}

/** What the provider ran itself stands in the assistant's message with its result, and has the provider's own id. */
function withIds(prompt: readonly WireObject[], ids: CallIds): readonly WireObject[] {
  const taken = (part: WireObject): WireObject => {
    const isOurs = part.type === 'tool-call' && part.providerExecuted !== true;
    return isOurs ? named(part, ids.ofCall(textOr(part.toolCallId))) : part;
  };
  return prompt.map((message) => {
    const parts = objectsIn(message.content);
    if (message.role === 'assistant') return { ...message, content: parts.map(taken) };
    if (message.role !== 'tool') return message;
    const results = parts.map((part) => named(part, ids.ofResult(textOr(part.toolCallId))));
    return { ...message, content: results };
  });
}

function named(part: WireObject, toolCallId: string): WireObject {
  return { ...part, toolCallId, toolName: acceptedName(textOr(part.toolName), LONGEST_NAME) };
}
