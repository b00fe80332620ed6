import type { AssistantMessage } from '../../../model/message.js';
import type { EarlierTurn } from '../../agent-event.js';
import type { Run } from '../run.js';

/** Returns the turn that a nested run continues with. Undefined for a run that begins. */
export function earlierTurnOf({ attached, conversation }: Run): EarlierTurn | undefined {
  const { turnsBefore: turn } = attached;
  const { history, resuming } = conversation;
  if (turn === undefined || resuming === undefined) return undefined;
  const { calls, answer } = resuming;
  const message = history[calls?.index ?? answer?.index ?? 0] as AssistantMessage;
  return { turn, message: withoutInside(message), results: calls?.results ?? [] };
}

/** Leaves out the nested runs, which have events of their own. */
function withoutInside(message: AssistantMessage): AssistantMessage {
  const content = message.content.map((part) => (part.type === 'tool-call' ? { ...part, inside: undefined } : part));
  return { ...message, content };
}
