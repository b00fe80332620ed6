import { SessionExistsError } from '../../errors.js';
import { type Message, textOf } from '../../model/message.js';
import type { SessionStore } from '../../state/session-store.js';
import { UIMessageUnknownError } from '../error.js';
import { hiddenMessages, shownMessages } from '../history/shown-messages.js';

/**
 * Returns the index of the user message that follows the user messages `after`, or undefined at the end of the history.
 * Messages of `after` that the session does not have belong to failed runs, and are skipped.
 */
function indexAfter(history: readonly Message[], after: readonly string[]): number | undefined {
  const hidden = hiddenMessages(history);
  const users = [...history.entries()].filter(([, message]) => message.role === 'user' && !hidden.has(message));
  let found = 0;
  for (const text of after) {
    const next = users[found];
    if (next !== undefined && textOf(next[1]) === text) found += 1;
  }
  return users[found]?.[0];
}

/** Like `indexAfter`, for an edit. Throws unless the session has the last message of `after`. */
export function editedIndex(history: readonly Message[], after: readonly string[]): number | undefined {
  const index = indexAfter(history, after);
  if (index === undefined) return undefined;
  const previous = shownMessages(history.slice(0, index)).findLast(({ role }) => role === 'user');
  if (after.length > 0 && (previous === undefined || textOf(previous) !== after.at(-1)))
    throw new UIMessageUnknownError();
  return index;
}

/** Like `indexAfter`, for a new answer. Throws if the session has another message at this position. */
export function answeredIndex(
  history: readonly Message[],
  { after, message }: { readonly after: readonly string[]; readonly message: Message },
): number | undefined {
  const index = indexAfter(history, after);
  if (index === undefined) return undefined;
  if (textOf(history[index] as Message) !== textOf(message)) throw new UIMessageUnknownError();
  return index;
}

/**
 * Keeps the first `keep` messages of a stored session. The whole session is first copied to a session whose id is the old
 * id with `~` and the revision. Throws a UIMessageUnknownError if the session changes meanwhile.
 */
export async function rewind(store: SessionStore, id: string, keep: number): Promise<void> {
  const stored = await store.load(id);
  if (stored === undefined || stored.messages.length < keep) throw new UIMessageUnknownError();
  if (stored.messages.length === keep) return;
  const { uid, revision } = stored;
  try {
    await store.fork(id, { id: `${id}~${revision}` });
  } catch (error) {
    if (!(error instanceof SessionExistsError)) throw error;
    // A deleted session of the same id has left a copy.
    await store.fork(id, { id: `${id}~${uid}~${revision}` });
  }
  const saved = await store.save(id, { keep, append: [], uid }, revision);
  if (saved === undefined) throw new UIMessageUnknownError();
}
