import { MISTRAL_MODEL } from '../openai/chat/limits.js';
import {
  acceptedName,
  CallIds,
  type IdRule,
  MISTRAL_IDS,
  OPENAI_IDS,
  PLAIN_IDS,
  withTurns,
} from '../shared/call-ids.js';
import { objectsIn, textOr, type WireObject } from '../shared/wire.js';
import { type AiSdkModel, isOpenAI } from './model.js';
import { speaksChat } from './result.js';

const LONGEST_NAME = 64;

/** The model that receives a prompt, and the ids of the tool calls that this model made earlier. */
export interface CallTarget {
  readonly model: AiSdkModel;
  readonly ownIds: ReadonlySet<string>;
}

/**
 * Replaces call ids and tool names that the provider would refuse. A conversation that began with another provider may
 * contain such ids, or the same id twice.
 *
 * Chat completions servers other than OpenAI accept any id, and some need their own ids unchanged. Mistral's models
 * have the strictest rules, on any host.
 */
export function withAcceptedCalls(prompt: readonly WireObject[], { model, ownIds }: CallTarget): readonly WireObject[] {
  const isMistral = model.provider.startsWith('mistral') || MISTRAL_MODEL.test(model.modelId);
  if (isMistral) return withTurns(withIds(prompt, MISTRAL_IDS, NONE), [{ type: 'text', text: 'OK.' }]);
  if (!speaksChat(model.provider)) return withIds(prompt, PLAIN_IDS, ownIds);
  return isOpenAI(model) ? withIds(prompt, OPENAI_IDS, ownIds) : prompt;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * Replaces the ids of tool calls and their results, and tool names. A call that the provider ran keeps its id, because
 * its result is in the same message and has this id too.
 */
function withIds(prompt: readonly WireObject[], rule: IdRule, own: ReadonlySet<string>): readonly WireObject[] {
  const ids = new CallIds(rule);
  const withId = (part: WireObject): WireObject => {
    const isOurs = part.type === 'tool-call' && part.providerExecuted !== true;
    const id = textOr(part.toolCallId);
    return isOurs ? named(part, ids.ofCall(id, own.has(id))) : part;
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
