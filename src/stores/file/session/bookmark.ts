import { join } from 'node:path';
import { checksum } from '../line.js';
import type { Bookmark, LogFile } from '../log.js';
import { readSmallFile, replaceSmallFile } from '../small-file.js';
import { SessionFile } from './session-file.js';

const NAME = 'context';
/**
 * Name of the file with the checksums of the ids of all entries before the bookmark. It grows with the conversation, so
 * it is read only when an entry is added.
 */
const IDS = 'ids';

/**
 * Reads the bookmark of a session: the position in its log of the first entries that the model reads. Returns undefined
 * if the bookmark is missing or damaged.
 */
export async function readBookmark(folder: string): Promise<Bookmark<SessionFile> | undefined> {
  const [head] = (await readSmallFile(join(folder, NAME))) ?? [];
  if (head === undefined) return undefined;
  const { mark, bytes, start, id, ...record } = JSON.parse(head);
  const session = new SessionFile();
  Object.assign(session, { id, older: idsReader(folder, head), marked: start });
  Object.assign(session.log, { ...record, start });
  return { mark: Buffer.from(mark, 'latin1'), bytes, state: session };
}

/**
 * Returns a function that reads the checksums of the older ids at its first call, and returns the same value
 * afterwards.
 */
function idsReader(folder: string, head: string): SessionFile['older'] {
  let ids: Promise<string | undefined> | undefined;
  const read = async () => {
    const [owner, found] = (await readSmallFile(join(folder, IDS))) ?? [];
    return owner === checksum(head) ? found : undefined;
  };
  return () => (ids ??= read());
}

/**
 * Stores a bookmark at the line of the log with the first entry that the model reads. Does nothing if the bookmark is
 * already there.
 *
 * The bookmark also contains the other current fields of the session, so that a reader needs no earlier line.
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
  const older = await state.older();
  if (older === undefined) return;
  const head = JSON.stringify({ mark: mark.toString('latin1'), bytes: line.at, start, id, ...record });
  const ids = entries.slice(0, start - log.start).map((entry) => checksum(entry.id));
  await replaceSmallFile(join(folder, IDS), [checksum(head), older + ids.join('')], check);
  await replaceSmallFile(join(folder, NAME), [head], check);
  state.marked = start;
}
