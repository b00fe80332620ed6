import type { AssistantMessage } from '../../../model/message.js';
import type { EarlierTurn } from '../../agent-event.js';
import type { Run } from '../run.js';

/** Returns the last turn of the suspended run that a nested run continues. Returns undefined for a new run. */
export function earlierTurnOf({ attached, conversation }: Run): EarlierTurn | undefined {
  const { turnsBefore: turn } = attached;
  const { history, resuming } = conversation;
  if (turn === undefined || resuming === undefined) return undefined;
  const { calls, answer } = resuming;
  const message = history[calls?.index ?? answer?.index ?? 0] as AssistantMessage;
  return { turn, message: withoutInside(message), results: calls?.results ?? [] };
}

/** Removes the nested runs from a message, because they have their own events. */
function withoutInside(message: AssistantMessage): AssistantMessage {
  const content = message.content.map((part) => (part.type === 'tool-call' ? { ...part, inside: undefined } : part));
  return { ...message, content };
}
