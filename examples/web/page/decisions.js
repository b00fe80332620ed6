import { api } from './server.js';

/**
 * Decisions that the AI SDK has no place for, by the id of what waits: other arguments, and decisions on calls inside of
 * others, whose ids begin with the ids of those.
 */
const kept = new Map();

/** Remembers a decision until it is sent. */
export function keepDecision(id, approved, input) {
  if (!approved) kept.set(id, 'deny');
  else kept.set(id, input === undefined ? 'approve' : { approve: input });
}

/** True if each call has a decision. */
export function areDecided(ids) {
  return ids.every((id) => kept.has(id));
}

/** Returns the request with the decisions of a message, or undefined if the AI SDK has a place for all of them. */
export function decideRequest(id, { parts }) {
  const decided = parts.filter(({ state }) => state === 'approval-responded');
  if (!decided.some(({ toolCallId }) => decisionsOn(toolCallId).length > 0)) return undefined;
  const decisions = Object.fromEntries(
    decided.flatMap(({ toolCallId, approval }) => {
      const own = decisionsOn(toolCallId);
      return approval.approved && own.length > 0 ? own : [[toolCallId, approval.approved ? 'approve' : 'deny']];
    }),
  );
  kept.clear();
  return { api: `${api}/decide`, body: { id, decisions } };
}

function decisionsOn(callId) {
  return [...kept].filter(([id]) => id === callId || id.startsWith(`${callId}/`));
}
