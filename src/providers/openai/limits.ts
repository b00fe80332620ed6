import { type IdRule, MISTRAL_IDS, OPENAI_IDS, takenName } from '../shared/call-ids.js';
import { isObject, objectsIn, textOr, type WireObject } from '../shared/wire.js';
import type { Server } from './client.js';

const LONGEST_NAME = 64;

/** What Mistral's models are called: they insist on more than the protocol does, whoever serves them. */
export const MISTRAL_MODEL = /(?:mi|mini|magi|code|dev)stral|(?:mi|pi|vo)xtral/i;

/**
 * A conversation that a model does not refuse for what another one left in it, before the session changed its model: the
 * ids and names of calls, calls without a thought; nor for the order of its messages.
 */
export function withinLimits(messages: readonly WireObject[], model: string, server: Server): readonly WireObject[] {
  if (MISTRAL_MODEL.test(model)) return withTurns(withCallsOf(messages, MISTRAL_IDS));
  if (server === 'openai') return withCallsOf(messages, OPENAI_IDS);
  const mustThink = server === 'deepseek' || (server === 'moonshot' && /kimi/i.test(model));
  return mustThink ? messages.map(withThought) : messages;
}

/** A model that thinks is refused calls that nobody thought about; Moonshot's refuse an empty thought as well. */
function withThought(message: WireObject): WireObject {
  const isBare = objectsIn(message.tool_calls).length > 0 && !('reasoning_content' in message);
  return isBare ? { ...message, reasoning_content: '(none)' } : message;
}

function withCallsOf(messages: readonly WireObject[], { taken, made, make }: IdRule): readonly WireObject[] {
  const ids = new Map<string, string>();
  const idOf = (given: unknown) => {
    const id = textOr(given);
    if (taken.test(id) && !made.test(id)) return id;
    if (!ids.has(id)) ids.set(id, make(ids.size + 1));
    return ids.get(id);
  };
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, tool_call_id: idOf(message.tool_call_id) };
    const calls = objectsIn(message.tool_calls);
    return calls.length === 0
      ? message
      : { ...message, tool_calls: calls.map((call) => takenCall(call, idOf(call.id))) };
  });
}

function takenCall(call: WireObject, id: string | undefined): WireObject {
  const called = isObject(call.function) ? call.function : {};
  return { ...call, id, function: { ...called, name: takenName(textOr(called.name), LONGEST_NAME) } };
}

/** Mistral's models want to answer results before a user speaks, as one does after a run that ended early, and with pictures. */
function withTurns(messages: readonly WireObject[]): readonly WireObject[] {
  return messages.flatMap((message, at) => {
    const isEarly = message.role === 'user' && messages[at - 1]?.role === 'tool';
    return isEarly ? [{ role: 'assistant', content: 'OK.' }, message] : [message];
  });
}
