import { type IdRule, MISTRAL_IDS, OPENAI_IDS, takenName, withTurns } from '../shared/call-ids.js';
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
  if (MISTRAL_MODEL.test(model)) return withTurns(withCallsOf(messages, MISTRAL_IDS), 'OK.');
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
    const own = ids.get(id) ?? make(ids.size + 1);
    ids.set(id, own);
    return own;
  };
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, tool_call_id: idOf(message.tool_call_id) };
    const calls = objectsIn(message.tool_calls).map((call) => takenCall(call, idOf(call.id)));
    return calls.length === 0 ? message : { ...message, tool_calls: calls };
  });
}

function takenCall(call: WireObject, id: string): WireObject {
  const called = isObject(call.function) ? call.function : {};
  return { ...call, id, function: { ...called, name: takenName(textOr(called.name), LONGEST_NAME) } };
}
