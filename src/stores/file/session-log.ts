import { type RecordChange, SessionRecord } from '../../state/session-record.js';
import type { SessionDetails } from '../../state/session-store.js';
import type { VaultForm } from './vault.js';

/** The state that the log of a session produces. Each message is JSON. */
export interface SessionLog {
  id: string;
  readonly record: SessionRecord<string>;
  /** The time at which the session expires. */
  end: number;
}

/** The first field of each line. JSON stores Infinity as null. */
type Head =
  | readonly ['create', id: string, uid: string, createdAt: number, details: SessionDetails]
  | readonly ['save', keep: number, revision: number, updatedAt: number, end: number | null]
  | readonly ['claim', attempt: number, token: string | null, until: number]
  | readonly ['details', details: SessionDetails]
  | readonly ['end', end: number | null];

/** Describes the log of a session. */
export const sessionForm: VaultForm<SessionLog> = {
  kind: 'session',
  create: () => ({ id: '', record: new SessionRecord(), end: Number.POSITIVE_INFINITY }),
  apply(state, [head = '', ...append]) {
    applyLine(state, JSON.parse(head), append);
  },
  *dump(state) {
    const { record } = state;
    yield createLine(state);
    for (const change of changesOf(record)) yield saveLine(state, change);
    yield claimLine(record);
  },
  isEmpty: ({ record, end }, now) => record.revision === 0 || end <= now,
  endOf: ({ end }) => end,
};

function applyLine(state: SessionLog, head: Head, append: readonly string[]): void {
  const { record } = state;
  if (head[0] === 'create') {
    [, state.id, record.uid, record.createdAt, record.details] = head;
  } else if (head[0] === 'save') {
    const [, keep, revision, updatedAt, end] = head;
    record.put({ keep, append }, revision, updatedAt);
    state.end = end ?? Number.POSITIVE_INFINITY;
  } else if (head[0] === 'claim') {
    const [, attempt, token, until] = head;
    record.attempt = attempt;
    record.held = token === null ? undefined : { token, until };
  } else if (head[0] === 'details') {
    record.details = head[1];
  } else {
    state.end = head[1] ?? Number.POSITIVE_INFINITY;
  }
}

/** One revision of a session, as a line stores it. */
interface SavedChange extends Pick<RecordChange<string>, 'keep' | 'append'> {
  readonly revision: number;
}

/** Returns changes that produce the messages of a record, one for each revision that is the first of a message. */
function* changesOf({ messages, revisions, revision }: SessionRecord<string>): Generator<SavedChange> {
  let keep = 0;
  while (keep < messages.length) {
    const added = revisions[keep] as number;
    let end = keep;
    while (end < messages.length && revisions[end] === added) end += 1;
    yield { keep, append: messages.slice(keep, end), revision: added };
    keep = end;
  }
  yield { keep, append: [], revision };
}

export function createLine({ id, record: { uid, createdAt, details } }: SessionLog): string[] {
  return line(['create', id, uid, createdAt, details]);
}

export function saveLine({ record, end }: SessionLog, { keep, append, revision }: SavedChange): string[] {
  return [...line(['save', keep, revision, record.updatedAt, end]), ...append];
}

export function claimLine({ attempt, held }: SessionRecord<string>): string[] {
  return line(['claim', attempt, held?.token ?? null, held?.until ?? 0]);
}

export function detailsLine({ record }: SessionLog): string[] {
  return line(['details', record.details]);
}

export function endLine({ end }: SessionLog): string[] {
  return line(['end', end]);
}

function line(head: Head): string[] {
  return [JSON.stringify(head)];
}
