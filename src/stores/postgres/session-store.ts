import { NOT_STORED } from '../../state/memory-session-store.js';
import type { Entry } from '../../state/record/entry.js';
import { entryFromJson } from '../../state/record/entry-json.js';
import { pageOf, resolveSessionQuery } from '../../state/session-list.js';
import type {
  AppendAnswer,
  ClaimAnswer,
  PostAnswer,
  RecordQuery,
  SessionAppend,
  SessionClaim,
  SessionDetails,
  SessionHolder,
  SessionPage,
  SessionQuery,
  SessionRenewal,
  SessionStore,
  SessionSummary,
  StoredRecord,
} from '../../state/session-store.js';
import { stopIn } from '../../state/stored-log.js';
import { detailColumns, encodeEntries, summaryOf } from '../sql-session.js';
import { fromSqlText, textOrNull, toSqlKey, toSqlText } from '../sql-text.js';
import { PostgresConnection } from './connection.js';
import { PostgresDataError } from './error.js';
import { type PostgresSessionStoreOptions, resolveStoreOptions, sessionStoreRules } from './options.js';

/**
 * Stores sessions in PostgreSQL, shared by all processes. Each entry is a row. Each call is one transaction in one
 * statement, and uses the clock of the server.
 *
 * An append sends only new entries. Call `migrate` first. Rejects with a PostgresUnavailableError if the server does
 * not answer within `timeoutMs`, or refuses the statement.
 *
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * await migrate(pool);
 * const store = new PostgresSessionStore({ client: pool, ttlMs: 30 * 24 * 3600 * 1000 });
 */
export class PostgresSessionStore implements SessionStore {
  private readonly connection: PostgresConnection;
  /** The lifetime of a session in milliseconds. Null if sessions never expire. */
  private readonly ttl: number | null;

  constructor(options: PostgresSessionStoreOptions) {
    const settings = resolveStoreOptions(options, sessionStoreRules);
    this.connection = new PostgresConnection(settings);
    this.ttl = Number.isFinite(settings.ttlMs) ? settings.ttlMs : null;
  }

  async claim(id: string, { token, run, by, ttlMs, known, details }: SessionClaim): Promise<ClaimAnswer> {
    const { owner, title, data } = detailColumns(details);
    const claim = [toSqlText(token), toSqlText(run), textOrNull(by), ttlMs];
    const args = [toSqlKey(id), toSqlText(id), ...claim, textOrNull(known?.uid), known?.length, owner, title, data];
    const [answer = '', ...rows] = await this.connection.call('session_claim', [...args, this.ttl]);
    const { claimed, lost, holder } = JSON.parse(answer);
    if (!claimed) return { claimed, holder: holderOf(holder) };
    return { ...recordOf(id, rows), claimed, ...(lost !== null && { lost: fromSqlText(lost) }) };
  }

  async append(id: string, append: SessionAppend): Promise<AppendAnswer> {
    const { token, length, entries, context, waits, release = false } = append;
    const waiting = waits === undefined ? null : JSON.stringify(textOrNull(waits));
    const args = [toSqlKey(id), toSqlText(token), length, pairsOf(entries), context, waiting, release, this.ttl];
    const [answer, ...others] = await this.connection.call('session_append', args);
    if (answer === undefined) return NOT_STORED;
    return { ...JSON.parse(answer), entries: others.map((body) => entryOf(id, body)) };
  }

  async renew(id: string, { token, ttlMs, waitsFor }: SessionRenewal): Promise<boolean> {
    const args = [toSqlKey(id), toSqlText(token), ttlMs, textOrNull(waitsFor)];
    return (await this.connection.call('session_renew', args)).length > 0;
  }

  async post(id: string, post: Entry): Promise<PostAnswer | undefined> {
    const stop = stopIn(post);
    const dropped = pairsOf(stop === undefined ? [] : [stop.dropped]);
    const args = [toSqlKey(id), pairsOf([post]), textOrNull(stop?.run), dropped, this.ttl];
    const [answer] = await this.connection.call('session_post', args);
    if (answer === undefined) return undefined;
    const { added, holder } = JSON.parse(answer);
    return { added, ...(holder && { holder: holderOf(holder) }) };
  }

  async load(id: string, { known, from, before, limit }: RecordQuery = {}): Promise<StoredRecord | undefined> {
    const args = [toSqlKey(id), textOrNull(known?.uid), known?.length, from, before, limit, this.ttl];
    const rows = await this.connection.call('session_load', args);
    return rows.length === 0 ? undefined : recordOf(id, rows, before);
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    const { owner, limit, after } = resolveSessionQuery(query);
    const position = after === undefined ? [null, null] : [after.updatedAt, toSqlKey(after.id)];
    const found = await this.connection.call('session_list', [toSqlText(owner), limit + 1, ...position]);
    return pageOf(
      found.map((reply) => summaryOf(JSON.parse(reply))),
      limit,
    );
  }

  async update(id: string, { title, data }: Omit<SessionDetails, 'owner'>): Promise<SessionSummary | undefined> {
    const columns = detailColumns({ title, data });
    const [reply] = await this.connection.call('session_details', [toSqlKey(id), columns.title, columns.data]);
    return reply === undefined ? undefined : summaryOf(JSON.parse(reply));
  }

  async delete(id: string): Promise<void> {
    await this.connection.call('session_delete', [toSqlKey(id)]);
  }
}

/** Encodes entries as a JSON array of pairs: a key and the JSON of an entry. */
function pairsOf(entries: readonly Entry[]): string {
  return JSON.stringify(encodeEntries(entries).map((body, at) => [toSqlKey((entries[at] as Entry).id), body]));
}

function holderOf(columns: Readonly<Record<string, string | number | null>>): SessionHolder {
  const found = Object.entries(columns).filter(([, value]) => value !== null);
  const decoded = found.map(([name, value]) => [name, typeof value === 'string' ? fromSqlText(value) : value]);
  return Object.fromEntries(decoded) as SessionHolder;
}

/** Decodes the rows of a session. Throws a PostgresDataError if entries are missing. */
function recordOf(session: string, [head = '', ...bodies]: readonly string[], before = Infinity): StoredRecord {
  const [{ uid, length, holder }, offset] = JSON.parse(head);
  const expected = Math.max(0, Math.min(before, length) - offset);
  if (bodies.length !== expected) {
    const problem = `expected ${expected} entries from position ${offset} on, found ${bodies.length}`;
    throw new PostgresDataError(session, problem);
  }
  const entries = bodies.map((body) => entryOf(session, body));
  return { uid, length, offset, entries, ...(holder && { holder: holderOf(holder) }) };
}

function entryOf(session: string, body: string): Entry {
  try {
    return entryFromJson(body);
  } catch (cause) {
    throw new PostgresDataError(session, 'an entry is not JSON', cause);
  }
}
