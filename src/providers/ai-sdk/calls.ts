import { MISTRAL_MODEL } from '../openai/chat/limits.js';
import { acceptedName, CallIds, MISTRAL_IDS, OPENAI_IDS, PLAIN_IDS, withTurns } from '../shared/call-ids.js';
import { objectsIn, textOr, type WireObject } from '../shared/wire.js';
import type { AiSdkModel } from './model.js';
import { speaksChat } from './result.js';

const LONGEST_NAME = 64;
const OPENAI_CHAT = /^(openai|azure)\b/;

/**
 * Replaces call ids and tool names that the provider refuses. Messages of another provider contain such ids, and can
 * repeat them.
 * Chat completions servers other than OpenAI accept any id, and some need their own ids unchanged.
 * Mistral's models have the strictest rules on any host.
 */
export function withAcceptedCalls(prompt: readonly WireObject[], model: AiSdkModel): readonly WireObject[] {
  const isMistral = model.provider.startsWith('mistral') || MISTRAL_MODEL.test(model.modelId);
  if (isMistral) return withTurns(withIds(prompt, new CallIds(MISTRAL_IDS)), [{ type: 'text', text: 'OK.' }]);
  if (!speaksChat(model.provider)) return withIds(prompt, new CallIds(PLAIN_IDS));
  return OPENAI_CHAT.test(model.provider) ? withIds(prompt, new CallIds(OPENAI_IDS)) : prompt;
}

/**
 * Replaces ids and names. A call that the provider executed keeps its id, since its result has the same id in the
 * assistant message.
 */
function withIds(prompt: readonly WireObject[], ids: CallIds): readonly WireObject[] {
  const withId = (part: WireObject): WireObject => {
    const isOurs = part.type === 'tool-call' && part.providerExecuted !== true;
    return isOurs ? named(part, ids.ofCall(textOr(part.toolCallId))) : part;
  };
  return prompt.map((message) => {
    const parts = objectsIn(message.content);
    if (message.role === 'assistant') return { ...message, content: parts.map(withId) };
    if (message.role !== 'tool') return message;
    const results = parts.map((part) =>
      part.type === 'tool-result' ? named(part, ids.ofResult(textOr(part.toolCallId))) : part,
    );
    return { ...message, content: results };
  });
}

function named(part: WireObject, toolCallId: string): WireObject {
  return { ...part, toolCallId, toolName: acceptedName(textOr(part.toolName), LONGEST_NAME) };
}
