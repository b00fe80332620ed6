import { join } from 'node:path';
import type { Bookmark, LogFile } from '../log.js';
import { readSmallFile, replaceSmallFile } from '../small-file.js';
import { SessionFile } from './session-file.js';

const NAME = 'context';

/** Reads the file that says where the context of a session begins in its log. */
export async function readBookmark(folder: string): Promise<Bookmark<SessionFile> | undefined> {
  const [head, older] = (await readSmallFile(join(folder, NAME))) ?? [];
  if (head === undefined || older === undefined) return undefined;
  const { mark, bytes, start, id, ...record } = JSON.parse(head);
  const session = new SessionFile();
  Object.assign(session, { id, start, older, marked: start });
  Object.assign(session.log, record);
  session.log.entries.length = start;
  return { mark: Buffer.from(mark, 'latin1'), bytes, state: session };
}

/**
 * Stores a bookmark at the line where the context begins, if it has moved on. The bookmark has all but the entries, as they
 * are at the end of the log: the lines after the bookmark lead to the same values.
 */
export async function writeBookmark(
  { folder, mark, state }: LogFile<SessionFile>,
  check: () => Promise<void>,
): Promise<void> {
  const { id, log, lines, marked } = state;
  const { uid, details, createdAt, updatedAt, context, waits, entries } = log;
  if (context <= marked || mark === undefined) return;
  const line = lines.findLast(({ position }) => position <= context);
  if (line === undefined || line.position <= marked) return;
  const start = line.position;
  const record = { uid, details, createdAt, updatedAt, context, waits };
  const head = { mark: mark.toString('latin1'), bytes: line.at, start, id, ...record };
  const ids = entries.slice(state.start, start).map((entry) => JSON.stringify(entry.id));
  await replaceSmallFile(join(folder, NAME), [JSON.stringify(head), state.older + ids.join('')], check);
  state.marked = start;
}
