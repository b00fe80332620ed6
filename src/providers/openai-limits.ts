import { isObject, objectsIn, textOr, type WireObject } from './wire.js';

const LONGEST_ID = 40;
const LONGEST_NAME = 64;
/** What a made id begins with; one that came so is made anew too, or two calls might have the same. */
const MADE = 'call_made_short_';

/**
 * A conversation whose calls OpenAI does not refuse for the ids and names that the model of another server gave them,
 * before the session changed its model.
 */
export function withinLimits(messages: readonly WireObject[]): readonly WireObject[] {
  const shortIds = new Map<string, string>();
  const idOf = (given: unknown) => {
    const id = textOr(given);
    if (id.length <= LONGEST_ID && !id.startsWith(MADE)) return id;
    if (!shortIds.has(id)) shortIds.set(id, `${MADE}${shortIds.size + 1}`);
    return shortIds.get(id);
  };
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, tool_call_id: idOf(message.tool_call_id) };
    const calls = objectsIn(message.tool_calls);
    return calls.length === 0
      ? message
      : { ...message, tool_calls: calls.map((call) => shortCall(call, idOf(call.id))) };
  });
}

function shortCall(call: WireObject, id: string | undefined): WireObject {
  const called = isObject(call.function) ? call.function : {};
  const name = textOr(called.name)
    .replace(/[^\w-]/g, '_')
    .slice(0, LONGEST_NAME);
  return { ...call, id, function: { ...called, name } };
}
