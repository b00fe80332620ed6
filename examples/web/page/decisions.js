/** The arguments that the person has changed, by the id of the call. The AI SDK has no place for them. */
const changed = new Map();

/** Remembers the arguments of an approval until it is sent. */
export function changeArguments(callId, input) {
  changed.set(callId, input);
}

/** Returns the request with the decisions of a message, or undefined if nobody has changed arguments. */
export function decideRequest(id, { parts }) {
  const decided = parts.filter(({ state }) => state === 'approval-responded');
  if (!decided.some(({ toolCallId }) => changed.has(toolCallId))) return undefined;
  const decisions = Object.fromEntries(decided.map((part) => [part.toolCallId, decisionOn(part)]));
  changed.clear();
  return { api: '/api/chat/decide', body: { id, decisions } };
}

function decisionOn({ toolCallId, approval }) {
  if (!approval.approved) return 'deny';
  return changed.has(toolCallId) ? { approve: changed.get(toolCallId) } : 'approve';
}
