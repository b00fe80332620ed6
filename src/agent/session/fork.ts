import { SessionExistsError } from '../../errors.js';
import type { Message } from '../../model/message.js';
import { ANSWER } from '../../model/waiting.js';
import type { Entry } from '../../state/record/entry.js';
import { SessionRecord } from '../../state/record/session-record.js';
import type { SessionDetails, SessionSummary } from '../../state/session-store.js';
import { errorResult, resultPartOf } from '../../tools/tool-result.js';
import { SessionStoreError } from './session-error.js';
import type { StoredSession } from './stored-session.js';

/** The copy of a session that `session.fork` makes. */
export interface SessionFork {
  /** The id of the new session. */
  readonly id: string;
  /** The last entry to copy. Default: the latest one. */
  readonly at?: string | undefined;
  /** The owner, the title and the data of the copy, where they differ from the original. */
  readonly details?: SessionDetails | undefined;
}

const FORK_MS = 30_000;
const NOT_COPIED = 'This copy of the conversation does not run the call.';

/**
 * Copies the conversation up to an entry to a new id. Open calls of the copy get a result, because only the original
 * session may run them.
 */
export async function forkSession(session: StoredSession, { id, at, details }: SessionFork): Promise<SessionSummary> {
  const { store } = session;
  await session.load();
  await session.loadAll();
  if (at !== undefined) await session.branchPoint(at);
  const copy = copyOf(session, at ?? session.record.tip);
  const { entries, context } = copy;
  const { owner, title, data } = { ...session.options, ...(await store.update(session.id, {})), ...details };
  const token = crypto.randomUUID();
  const run = session.agent.defaults.ids.next('run');
  const known = { uid: '', length: 0 };
  try {
    const claim = await store.claim(id, { token, run, ttlMs: FORK_MS, known, details: { owner, title, data } });
    if (!claim.claimed) throw new SessionExistsError(id);
    if (claim.length > 0) {
      await store.append(id, { token, length: claim.length, entries: [], release: true });
      throw new SessionExistsError(id);
    }
    await store.append(id, { token, length: 0, entries, context, release: true });
    return (await store.update(id, {})) as SessionSummary;
  } catch (error) {
    if (error instanceof SessionExistsError) throw error;
    throw new SessionStoreError(id, 'saved', error);
  }
}

/**
 * Returns the record of the new session: the entries up to `tip`, their decisions and nested runs, and a result for
 * each open tool call.
 */
function copyOf({ record, agent }: StoredSession, tip: string | undefined): SessionRecord {
  const { ids, clock } = agent.defaults;
  const path = new Set(record.pathTo(tip));
  const copied = new Set([...path].map((entry) => entry.id));
  const copy = new SessionRecord();
  for (const entry of record.entries) {
    const { id, parent = '' } = entry;
    if (!path.has(entry) && !(belongsTo(entry) && copied.has(parent))) continue;
    copied.add(id);
    copy.add(entry);
  }
  if (copy.tip !== tip) copy.add({ id: ids.next('entry'), parent: tip, at: clock.now(), body: { type: 'head' } });
  const { openTurn, pending } = copy;
  for (const { id, name } of openTurn?.open ?? []) {
    const part = resultPartOf({ type: 'tool-call', id, name, input: undefined }, errorResult(NOT_COPIED));
    const message: Message = { role: 'tool', content: [part] };
    copy.add({ id: ids.next('entry'), parent: copy.tip, at: clock.now(), body: { type: 'message', message } });
  }
  if (openTurn === undefined && pending !== undefined) {
    const body = { type: 'decision', call: ANSWER, decision: { deny: NOT_COPIED } } as const;
    copy.add({ id: ids.next('entry'), parent: pending.entry, at: clock.now(), body });
  }
  return copy;
}

/**
 * True for an entry that must be copied with its parent: a suspension, a decision, or the first entry of a nested run.
 */
function belongsTo({ body, path }: Entry): boolean {
  return path !== undefined || body.type === 'suspended' || body.type === 'decision';
}
