import { acceptedName, type IdRule, MISTRAL_IDS, OPENAI_IDS, withTurns } from '../../shared/call-ids.js';
import { isObject, objectsIn, textOr, type WireObject } from '../../shared/wire.js';
import type { Server } from '../client.js';

const LONGEST_NAME = 64;

/** Matches the names of Mistral's models. On any host, these models have stricter limits than the protocol. */
export const MISTRAL_MODEL = /(?:mi|mini|magi|code|dev)stral|(?:mi|pi|vo)xtral/i;

/**
 * Returns the messages with call ids, tool names and an order of messages that the model accepts. A session that used
 * another model before may contain ids and names that this model refuses.
 */
export function withinLimits(messages: readonly WireObject[], model: string, server: Server): readonly WireObject[] {
  if (MISTRAL_MODEL.test(model)) return withTurns(withAcceptedCalls(messages, MISTRAL_IDS), 'OK.');
  if (server === 'openai') return withAcceptedCalls(messages, OPENAI_IDS);
  const mustThink = server === 'deepseek' || (server === 'moonshot' && /kimi/i.test(model));
  return mustThink ? messages.map(withThought) : messages;
}

/**
 * Adds reasoning to a message with tool calls that has none. Reasoning models of DeepSeek and Moonshot require it, and
 * Moonshot also refuses empty reasoning.
 */
function withThought(message: WireObject): WireObject {
  const isBare = objectsIn(message.tool_calls).length > 0 && !('reasoning_content' in message);
  return isBare ? { ...message, reasoning_content: '(none)' } : message;
}

function withAcceptedCalls(
  messages: readonly WireObject[],
  { accepted, generated, make }: IdRule,
): readonly WireObject[] {
  const ids = new Map<string, string>();
  const idOf = (given: unknown) => {
    const id = textOr(given);
    if (accepted.test(id) && !generated.test(id)) return id;
    const own = ids.get(id) ?? make(ids.size + 1);
    ids.set(id, own);
    return own;
  };
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, tool_call_id: idOf(message.tool_call_id) };
    const calls = objectsIn(message.tool_calls).map((call) => acceptedCall(call, idOf(call.id)));
    return calls.length === 0 ? message : { ...message, tool_calls: calls };
  });
}

function acceptedCall(call: WireObject, id: string): WireObject {
  const called = isObject(call.function) ? call.function : {};
  return { ...call, id, function: { ...called, name: acceptedName(textOr(called.name), LONGEST_NAME) } };
}
