import { SessionExistsError } from '../../errors.js';
import type { Message } from '../../model/message.js';
import { messageFromJson } from '../../state/message-json.js';
import { cursorOf, resolveSessionQuery } from '../../state/session-list.js';
import {
  checkKeep,
  type KnownSession,
  type SessionChange,
  type SessionClaim,
  type SessionDetails,
  type SessionFork,
  type SessionPage,
  type SessionQuery,
  type SessionStore,
  type SessionSummary,
  type StoredSession,
} from '../../state/session-store.js';
import { detailColumns, encodeMessages, summaryOf } from '../sql-session.js';
import { fromSqlText, toSqlKey, toSqlText } from '../sql-text.js';
import { PostgresConnection } from './connection.js';
import { PostgresDataError } from './error.js';
import { type PostgresSessionStoreOptions, resolveStoreOptions, sessionStoreRules } from './options.js';

/**
 * Stores sessions in PostgreSQL, shared by all processes. Each message is a row. Each call is one transaction
 * in one statement, and uses the clock of the server. A save sends only new messages. Call `migrate` first.
 *
 * Rejects with a PostgresUnavailableError if the server does not answer within `timeoutMs`, or refuses the statement.
 *
 * @example
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * await migrate(pool);
 * const store = new PostgresSessionStore({ client: pool, ttlMs: 30 * 24 * 3600 * 1000 });
 */
export class PostgresSessionStore implements SessionStore {
  private readonly connection: PostgresConnection;
  /** Null if sessions never expire. */
  private readonly ttl: string | null;

  constructor(options: PostgresSessionStoreOptions) {
    const settings = resolveStoreOptions(options, sessionStoreRules);
    this.connection = new PostgresConnection(settings);
    this.ttl = Number.isFinite(settings.ttlMs) ? `${settings.ttlMs}` : null;
  }

  async load(id: string, known?: KnownSession): Promise<StoredSession | undefined> {
    const uid = known === undefined ? null : toSqlText(known.uid);
    const args = [toSqlKey(id), uid, `${known?.revision ?? 0}`, this.ttl];
    const [head, ...bodies] = await this.connection.call('session_load', args);
    if (head === undefined) return undefined;
    const [stored, revision, length, keep] = JSON.parse(head);
    if (keep + bodies.length !== length) {
      throw new PostgresDataError(id, `${length} messages were saved, and ${keep + bodies.length} are stored`);
    }
    return {
      uid: fromSqlText(stored),
      revision,
      keep,
      messages: bodies.map((body, at) => readMessage(id, keep + at, body)),
    };
  }

  async save(id: string, change: SessionChange, expected: number): Promise<number | undefined> {
    const { keep, append, uid, claim, details } = change;
    const { owner, title, data } = detailColumns(details);
    const [reply, length] = await this.connection.call('session_save', [
      toSqlKey(id),
      toSqlText(id),
      `${expected}`,
      `${keep}`,
      JSON.stringify(encodeMessages(append)),
      uid === undefined ? null : toSqlText(uid),
      crypto.randomUUID(),
      claim === undefined ? null : toSqlText(claim),
      owner,
      title,
      data,
      this.ttl,
    ]);
    if (reply === 'keep') checkKeep(keep, Number(length));
    return reply === undefined ? undefined : Number(reply);
  }

  async delete(id: string): Promise<void> {
    await this.connection.call('session_delete', [toSqlKey(id)]);
  }

  async claim(id: string, { token, revision, ttlMs }: SessionClaim): Promise<number | undefined> {
    const args = [toSqlKey(id), toSqlText(token), `${revision}`, `${ttlMs}`];
    const [attempt] = await this.connection.call('session_claim', args);
    return attempt === undefined ? undefined : Number(attempt);
  }

  async renew(id: string, token: string, ttlMs: number): Promise<boolean> {
    const replies = await this.connection.call('session_renew', [toSqlKey(id), toSqlText(token), `${ttlMs}`]);
    return replies.length > 0;
  }

  async release(id: string, token: string): Promise<void> {
    await this.connection.call('session_release', [toSqlKey(id), toSqlText(token)]);
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    const { owner, limit, after } = resolveSessionQuery(query);
    const position = after === undefined ? [null, null] : [`${after.updatedAt}`, toSqlKey(after.id)];
    const found = await this.connection.call('session_list', [toSqlText(owner), `${limit + 1}`, ...position]);
    const sessions = found.slice(0, limit).map((reply) => summaryOf(JSON.parse(reply)));
    const last = sessions.at(-1);
    return { sessions, next: last !== undefined && found.length > limit ? cursorOf(last) : undefined };
  }

  async update(id: string, { title, data }: Omit<SessionDetails, 'owner'>): Promise<SessionSummary | undefined> {
    const columns = detailColumns({ title, data });
    const [reply] = await this.connection.call('session_details', [toSqlKey(id), columns.title, columns.data]);
    return reply === undefined ? undefined : summaryOf(JSON.parse(reply));
  }

  async fork(id: string, fork: SessionFork): Promise<SessionSummary | undefined> {
    const { owner, title, data } = detailColumns(fork.details);
    const [reply, length] = await this.connection.call('session_fork', [
      toSqlKey(id),
      toSqlKey(fork.id),
      toSqlText(fork.id),
      fork.keep === undefined ? null : `${fork.keep}`,
      crypto.randomUUID(),
      owner,
      title,
      data,
      this.ttl,
    ]);
    if (reply === 'keep') checkKeep(fork.keep ?? 0, Number(length));
    if (reply === 'exists') throw new SessionExistsError(fork.id);
    return reply === undefined ? undefined : summaryOf(JSON.parse(reply));
  }
}

function readMessage(session: string, at: number, body: string): Message {
  try {
    return messageFromJson(body);
  } catch (cause) {
    throw new PostgresDataError(session, `message ${at} is not JSON`, cause);
  }
}
