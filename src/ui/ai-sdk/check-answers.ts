import type { SessionRecord } from '../../state/record/session-record.js';
import { UIHistoryUnknownError } from '../error.js';
import { showValue } from '../invalid-body.js';

/** A message of a request body that `fromUIMessages` has validated. */
interface PageMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Throws a UIHistoryUnknownError if a request contains an assistant message that the session does not have. Ignores
 * assistant messages before the first user message, such as a greeting.
 */
export function checkAnswers(body: unknown, record: SessionRecord): void {
  const { messages } = body as { readonly messages: readonly PageMessage[] };
  const known = new Set(record.entries.flatMap(({ id, run }) => (run === undefined ? [id] : [id, run])));
  // If a session was opened after a summary, the ids of earlier messages are not loaded.
  let mayBeEarlier = true;
  for (const [index, { id, role, parts }] of messages.entries()) {
    if (known.has(id) || (role === 'user' && record.offset === 0)) mayBeEarlier = false;
    if (role === 'user' || mayBeEarlier || known.has(id) || !parts.some(isStored)) continue;
    throw new UIHistoryUnknownError(
      `\`messages[${index}]\` must be an assistant message that this chat sent, got the id ${showValue(id)}. Load the history again.`,
    );
  }
}

/**
 * Returns true for a part that the session stores. The page may show other parts of an answer that was stopped early.
 */
function isStored({ type, state }: PageMessage['parts'][number]): boolean {
  return type !== 'step-start' && type !== 'reasoning' && state !== 'input-streaming';
}
