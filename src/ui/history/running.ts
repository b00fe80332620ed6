import type { Entry } from '../../state/record/entry.js';
import type { SessionRecord } from '../../state/record/session-record.js';
import { recordOf } from '../../state/record/session-record.js';
import { isInAnswer } from './shown.js';

/**
 * Returns the id of the last entry before the answer of an active run. The history ends there, because the client
 * receives this answer as a stream.
 */
export function tipBefore(record: SessionRecord, run: string | undefined): string | undefined {
  const path = record.pathTo(record.tip);
  const isAnswer = (entry: Entry) =>
    entry.run === run && (isInAnswer(entry) || (!isQuestion(entry) && !isBeforeTurns(entry)));
  const first = run === undefined ? undefined : path.find(isAnswer);
  return first === undefined ? record.tip : first.parent;
}

/** Returns a record that ends before the answer of a run. */
export function beforeAnswer(record: SessionRecord, run: string | undefined): SessionRecord {
  const tip = tipBefore(record, run);
  return tip === record.tip ? record : recordOf([...record.entries, headAt(tip)]);
}

/** Returns an entry that makes `parent` the latest entry of a conversation. */
export function headAt(parent: string | undefined): Entry {
  return { id: crypto.randomUUID(), parent, at: 0, body: { type: 'head' } };
}

/** Returns true for a tool result that a run added before its first turn, to close a call of an earlier run. */
function isBeforeTurns({ body }: Entry): boolean {
  return body.type === 'message' && body.turn === undefined;
}

function isQuestion({ body }: Entry): boolean {
  return body.type === 'message' && body.message.role === 'user';
}
