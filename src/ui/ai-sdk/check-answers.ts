import { isObject } from '../../internal/json.js';
import type { SessionRecord } from '../../state/record/session-record.js';
import { UICallUnknownError, UIHistoryUnknownError } from '../error.js';
import { shownIn } from '../history/shown.js';
import { showValue } from '../invalid-body.js';

/** A message of a body that `fromUIMessages` has read. */
interface PageMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Throws a UIHistoryUnknownError if the body contains an answer that the session does not have. Ignores answers before the
 * first message of the person, such as a greeting. Throws a UICallUnknownError if the last answer contains a tool result
 * that the session does not have. Reads nothing else of the answers.
 */
export function checkAnswers(body: unknown, record: SessionRecord): void {
  const { messages } = body as { readonly messages: readonly PageMessage[] };
  const known = new Set(record.entries.flatMap(({ id, run }) => (run === undefined ? [id] : [id, run])));
  // A session that was opened after a summary does not have the ids of earlier messages.
  let mayBeEarlier = true;
  for (const [index, { id, role, parts }] of messages.entries()) {
    if (known.has(id) || (role === 'user' && record.offset === 0)) mayBeEarlier = false;
    if (role === 'user' || mayBeEarlier || known.has(id) || !parts.some(isStored)) continue;
    throw new UIHistoryUnknownError(
      `\`messages[${index}]\` must be an assistant message that this chat sent, got the id ${showValue(id)}. Load the history again.`,
    );
  }
  const last = messages.at(-1);
  if (last?.role === 'assistant') checkResults(last, record);
}

/** True if the session stores this part of a stopped answer. */
function isStored({ type, state }: PageMessage['parts'][number]): boolean {
  return type !== 'step-start' && type !== 'reasoning' && state !== 'input-streaming';
}

function checkResults({ id, parts }: PageMessage, record: SessionRecord): void {
  const answer = shownIn(record).find((item) => item.type === 'answer' && item.id === id);
  if (answer?.type !== 'answer') return;
  const results = new Set(answer.steps.flatMap((step) => [...step.results.keys()]));
  for (const part of parts) {
    const isResult = isObject(part) && typeof part.state === 'string' && part.state.startsWith('output-');
    if (!isResult || results.has(String(part.toolCallId))) continue;
    throw new UICallUnknownError(
      `The session has no result of the tool call ${showValue(part.toolCallId)}. Tools run on the server; load the history again.`,
    );
  }
}
