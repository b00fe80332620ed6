import type { StoredSession } from '../../agent/session/stored-session.js';
import type { Entry } from '../../state/record/entry.js';
import type { SessionRecord } from '../../state/record/session-record.js';
import { recordOf } from '../../state/record/session-record.js';
import { invalidBody } from '../invalid-body.js';
import { beforeAnswer, headAt, tipBefore } from './running.js';
import { type Shown, shownIn } from './shown.js';

const PAGE = 100;
const MAX_PAGE = 1_000;

/** Selects a page of the messages of a chat. */
export interface PageQuery {
  /** The id of the first message of the page that follows. Default: the end of the chat. */
  readonly before: string | undefined;
  /** The number of entries to load at a time. */
  readonly limit: number;
  /** The id of the active run. Its answer is omitted, because the client receives it as a stream. */
  readonly running?: string | undefined;
}

/** Reads `before` and `limit` from the query of a URL. Throws a UIBodyInvalidError if `limit` is invalid. */
export function readPageQuery(query: URLSearchParams): PageQuery {
  const limit = Number(query.get('limit') ?? PAGE);
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw invalidBody('`limit`', `a whole number from 1 to ${MAX_PAGE}`, query.get('limit'));
  }
  return { before: query.get('before') ?? undefined, limit };
}

/**
 * A page of the messages of a chat. It starts with a user message that started a run, so that no answer is split
 * between pages.
 */
export interface Page {
  readonly shown: readonly Shown[];
  /** The value of `before` for the page of earlier messages. Undefined at the start of the chat. */
  readonly before: string | undefined;
}

/**
 * Loads a page of the messages of a chat. The latest page contains at least the entries that the session has loaded. If
 * these start after a summary, earlier entries are added. Throws an EntryInvalidError if `before` is unknown.
 */
export async function loadPage(session: StoredSession, { before, limit, running }: PageQuery): Promise<Page> {
  const next = before === undefined ? undefined : await session.find(before);
  const { record } = session;
  const tip = next === undefined ? tipBefore(record, running) : next.parent;
  let entries: readonly Entry[] = record.entries;
  if (next !== undefined) entries = entries.slice(record.positionOf(next.id) - record.offset);
  if (next === undefined && record.offset === 0)
    return { shown: shownIn(beforeAnswer(record, running)), before: undefined };
  for (;;) {
    const earlier = await session.page(entries[0]?.id, limit);
    entries = [...earlier, ...entries];
    const loaded = recordOf([...entries, headAt(tip)]);
    const shown = shownIn(loaded);
    const [first] = loaded.pathTo(tip);
    if (earlier.length === 0 || tip === undefined || (first && first.parent === undefined)) {
      return { shown, before: undefined };
    }
    const start = startOf(loaded, shown);
    if (start > 0) return { shown: shown.slice(start), before: shown[start]?.id };
  }
}

/**
 * Returns the index of the first user message that started a run, or -1. Items before it may belong to an incomplete
 * answer.
 */
function startOf(record: SessionRecord, shown: readonly Shown[]): number {
  const path = record.pathTo(record.tip);
  const runBefore = (id: string) => path[path.findIndex((entry) => entry.id === id) - 1]?.run;
  return shown.findIndex(
    ({ type, id }, index) => index > 0 && type === 'user' && record.get(id)?.run !== runBefore(id),
  );
}
