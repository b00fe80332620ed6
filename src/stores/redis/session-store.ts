import { mapConcurrent } from '../../internal/map-concurrent.js';
import type { Message } from '../../model/message.js';
import { messageFromJson, messageToJson } from '../../state/message-json.js';
import { copyDetails } from '../../state/session-details.js';
import { forkSession } from '../../state/session-fork.js';
import { cursorOf, type ListPosition, resolveSessionQuery } from '../../state/session-list.js';
import type {
  KnownSession,
  SessionChange,
  SessionClaim,
  SessionDetails,
  SessionFork,
  SessionPage,
  SessionQuery,
  SessionStore,
  SessionSummary,
  StoredSession,
} from '../../state/session-store.js';
import { keyPrefixOf } from './client.js';
import { RedisConnection, type RedisScript, type RunScript, textsOf } from './connection.js';
import { RedisDataError } from './error.js';
import { RedisKeys, toKeyPiece } from './keys.js';
import { type RedisSessionStoreOptions, resolveSessionStoreOptions } from './options.js';
import { RedisOwnerIndex } from './owner-index.js';
import {
  claimScript,
  deleteScript,
  detailsScript,
  loadScript,
  releaseScript,
  renewScript,
  saveScript,
} from './session-script.js';

/**
 * Stores sessions in Redis 6 or newer, shared by all processes. Each save is one atomic script, and sends only new messages.
 * Rejects with a RedisUnavailableError if Redis does not answer within `timeoutMs`. Rejects with a RedisDataError if stored
 * data cannot be read.
 *
 * @example
 * const store = new RedisSessionStore({ client: await createClient({ url }).connect(), ttlMs: 7 * 24 * 3600 * 1000 });
 */
export class RedisSessionStore implements SessionStore {
  private readonly connection: RedisConnection;
  private readonly keys: RedisKeys;
  /** Milliseconds as a string for the scripts; 0 means that sessions never expire. */
  private readonly ttl: string;

  constructor(options: RedisSessionStoreOptions) {
    const settings = resolveSessionStoreOptions(options);
    this.connection = new RedisConnection(settings.client, settings.timeoutMs);
    this.keys = new RedisKeys(settings.prefix, keyPrefixOf(settings.client));
    this.ttl = Number.isFinite(settings.ttlMs) ? `${settings.ttlMs}` : '0';
  }

  async load(id: string, known?: KnownSession): Promise<StoredSession | undefined> {
    const keys = this.keys.session(id);
    const args = [this.ttl, known?.uid ?? '', `${known?.revision ?? -1}`];
    const run = this.connection.begin();
    const reply = (await run(loadScript, keys, args)) as readonly unknown[] | null;
    if (reply === null) return undefined;
    const [later, ...heads] = [reply[5], ...reply.slice(0, 5), ...reply.slice(6)];
    const [revision, uid = '', length, stored, kept, owner = '', updated] = textsOf(heads);
    if (stored !== length) throw messagesMissing(keys[1]);
    if (owner !== '') await this.index(run, owner.slice(1)).write({ id, updatedAt: Number(updated) }, this.indexTtl);
    const keep = Number(kept);
    const messages = textsOf(later).map((entry, at) => readMessage(entry, keys[1], keep + at));
    return { uid, revision: Number(revision), keep, messages };
  }

  async save(id: string, change: SessionChange, expected: number): Promise<number | undefined> {
    const { keep, append, uid = '', claim = '', details = {} } = change;
    const keys = this.keys.session(id);
    const added = append.map((message, at) => writeMessage(message, keys[1], keep + at));
    const fields = fieldsOf(details);
    const run = this.connection.begin();
    // Before the save, so that a session is listed even if this process dies in between.
    if (expected === 0 && details.owner !== undefined) {
      await this.index(run, details.owner).write({ id, updatedAt: Date.now() }, this.indexTtl);
    }
    const args = [this.ttl, `${expected}`, crypto.randomUUID(), `${keep}`, uid, claim, `${fields.length}`];
    const reply = await run(saveScript, keys, [...args, ...fields, ...added]);
    if (reply === null) return undefined;
    if (!Array.isArray(reply)) throw messagesMissing(keys[1]);
    const [revision, updated, owner = ''] = textsOf(reply);
    if (owner !== '') {
      // The save has succeeded. A later save or list corrects an index that could not be written.
      await this.index(run, owner.slice(1))
        .write({ id, updatedAt: Number(updated) }, this.indexTtl)
        .catch(() => {});
    }
    return Number(revision);
  }

  async delete(id: string): Promise<void> {
    await this.connection.begin()(deleteScript, this.keys.session(id), []);
  }

  async claim(id: string, { token, revision, ttlMs }: SessionClaim): Promise<number | undefined> {
    const reply = await this.send(claimScript, id, [token, `${revision}`, `${ttlMs}`]);
    return reply === null ? undefined : Number(reply);
  }

  async renew(id: string, token: string, ttlMs: number): Promise<boolean> {
    return Number(await this.send(renewScript, id, [token, `${ttlMs}`])) === 1;
  }

  async release(id: string, token: string): Promise<void> {
    await this.send(releaseScript, id, [token]);
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    const { owner, limit, after } = resolveSessionQuery(query);
    const index = this.index(this.connection.begin(), owner);
    const sessions: SessionSummary[] = [];
    let last = after;
    for (;;) {
      const found = await index.read(last, limit - sessions.length + 1);
      const taken = found.slice(0, limit - sessions.length);
      const summaries = await mapConcurrent(taken, async (position) => this.listed(index, position));
      for (const summary of summaries) if (summary?.owner === owner) sessions.push(summary);
      last = taken.at(-1);
      if (last === undefined || taken.length === found.length) return { sessions, next: undefined };
      if (sessions.length === limit) return { sessions, next: cursorOf(last) };
    }
  }

  async update(id: string, { title, data }: Omit<SessionDetails, 'owner'>): Promise<SessionSummary | undefined> {
    const reply = await this.send(detailsScript, id, fieldsOf({ title, data }));
    return reply === null ? undefined : summaryOf(id, textsOf(reply));
  }

  fork(id: string, fork: SessionFork): Promise<SessionSummary | undefined> {
    return forkSession(this, id, fork);
  }

  private async listed(index: RedisOwnerIndex, position: ListPosition): Promise<SessionSummary | undefined> {
    const summary = await this.update(position.id, {});
    if (summary === undefined) await index.remove(position);
    return summary;
  }

  private send(script: RedisScript, id: string, args: readonly string[]): Promise<unknown> {
    return this.connection.begin()(script, this.keys.session(id), args);
  }

  private index(run: RunScript, owner: string): RedisOwnerIndex {
    return new RedisOwnerIndex(this.keys.owner(toKeyPiece(owner)), run);
  }

  /** Twice the lifetime of a session. A load that finds an older entry writes it again. */
  private get indexTtl(): string {
    return `${2 * Number(this.ttl)}`;
  }
}

/** Returns the names and the values of the details that are not undefined. */
function fieldsOf(details: SessionDetails): string[] {
  const { owner, title, data } = copyDetails(details);
  const fields = { owner, title, data: data && JSON.stringify(data) };
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
}

function summaryOf(id: string, reply: readonly string[]): SessionSummary {
  const fields = new Map<string, string>();
  for (let at = 0; at < reply.length; at += 2) fields.set(reply[at] as string, reply[at + 1] as string);
  const [owner, title, data] = [fields.get('owner'), fields.get('title'), fields.get('data')];
  return {
    ...(owner !== undefined && { owner }),
    ...(title !== undefined && { title }),
    ...(data !== undefined && { data: JSON.parse(data) }),
    id,
    revision: Number(fields.get('revision')),
    length: Number(fields.get('length')),
    createdAt: Number(fields.get('created')),
    updatedAt: Number(fields.get('updated')),
  };
}

function readMessage(entry: string, key: string, at: number): Message {
  const json = entry.slice(entry.indexOf(' ') + 1);
  try {
    return messageFromJson(json);
  } catch (cause) {
    const shown = json.length > 60 ? `${json.slice(0, 60)}…` : json;
    throw new RedisDataError(
      key,
      `message ${at} must be a message as JSON, got ${shown}. Repair it, or delete the session.`,
      cause,
    );
  }
}

function writeMessage(message: Message, key: string, at: number): string {
  try {
    return messageToJson(message);
  } catch (cause) {
    throw new RedisDataError(
      key,
      `message ${at} cannot be written as JSON. Use only values that JSON supports.`,
      cause,
    );
  }
}

function messagesMissing(key: string): RedisDataError {
  return new RedisDataError(
    key,
    'the number of messages is wrong. Redis may have evicted keys; set `maxmemory-policy noeviction`.',
  );
}
