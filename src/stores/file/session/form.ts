import { entryFromJson } from '../../../state/record/entry-json.js';
import type { SessionAppend, SessionDetails } from '../../../state/session-store.js';
import type { VaultForm } from '../vault.js';
import { readBookmark } from './bookmark.js';
import { SessionFile } from './session-file.js';

/** Fields of a session that are stored together with new entries. */
type RecordChange = Pick<SessionAppend, 'context' | 'waits'>;

/**
 * The first field of a line in the log of a session. It tells what the line changes. The other fields of an `add` line
 * are entries.
 */
type Head =
  | readonly ['create', id: string, uid: string, now: number, details: SessionDetails]
  | readonly ['add', position: number, now: number, change: RecordChange]
  | readonly ['details', details: SessionDetails];

/** The format of the log of a session. */
export const sessionForm: VaultForm<SessionFile> = {
  kind: 'session',
  create: () => new SessionFile(),
  apply: applyLine,
  isOutdated: ([head = '']) => head.startsWith('["save",'),
  bookmark: readBookmark,
  isEmpty: ({ log, end }, now) => log.uid === '' || end <= now,
  endOf: ({ end }) => end,
};

function applyLine(session: SessionFile, [first = '', ...entries]: readonly string[], at: number): boolean {
  const head: Head = JSON.parse(first);
  const { log } = session;
  if (head[0] === 'create') {
    [, session.id, log.uid, , log.details] = head;
  } else if (head[0] === 'details') {
    log.details = head[1];
  } else {
    const [, position, now, { context = log.context, waits = log.waits }] = head;
    if (position !== log.length) return false;
    session.lines.push({ position, at });
    for (const entry of entries) log.put(entryFromJson(entry), now);
    log.context = context;
    log.waits = waits;
  }
  return true;
}

/** Encodes the first field of a line as JSON. */
export function headOf(head: Head): string {
  return JSON.stringify(head);
}
