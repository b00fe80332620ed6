import { mapConcurrent } from '../../internal/map-concurrent.js';
import { NOT_STORED } from '../../state/memory-session-store.js';
import type { Entry } from '../../state/record/entry.js';
import { copyDetails } from '../../state/session-details.js';
import { cursorOf, resolveSessionQuery } from '../../state/session-list.js';
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
import { RedisChannels } from './channels.js';
import { keyPrefixOf } from './client.js';
import { deleteScript, RedisConnection, type RedisScript, type RunScript } from './connection.js';
import { RedisKeys, toKeyPiece } from './keys.js';
import { type RedisSessionStoreOptions, resolveSessionStoreOptions } from './options.js';
import { RedisOwnerIndex } from './owner-index.js';
import { readReply, type SessionReply, writeEntries } from './session-data.js';
import { appendScript, claimScript, detailsScript, loadScript, postScript, renewScript } from './session-script.js';

/**
 * Stores sessions in Redis 6 or newer, shared by all processes. Each call is one atomic script that uses the clock of
 * Redis. An append sends only new entries.
 *
 * Rejects with a RedisUnavailableError if Redis does not answer within `timeoutMs`. Rejects with a RedisDataError if
 * stored data cannot be read.
 *
 * @example
 * const store = new RedisSessionStore({ client: await createClient({ url }).connect() });
 */
export class RedisSessionStore implements SessionStore {
  /** Undefined if the option `subscriber` is not set. */
  readonly watch?: NonNullable<SessionStore['watch']>;
  private readonly connection: RedisConnection;
  private readonly keys: RedisKeys;
  private readonly ttlMs: number;

  constructor(options: RedisSessionStoreOptions) {
    const { client, prefix, timeoutMs, ttlMs, subscriber } = resolveSessionStoreOptions(options);
    this.connection = new RedisConnection(client, timeoutMs);
    this.keys = new RedisKeys(prefix, keyPrefixOf(client));
    this.ttlMs = ttlMs;
    if (subscriber === undefined) return;
    const channels = new RedisChannels(subscriber);
    this.watch = (id, listener) => channels.watch(this.keys.posts(id), listener);
  }

  async claim(id: string, { token, run, by, ttlMs, known, details = {} }: SessionClaim): Promise<ClaimAnswer> {
    const args = argsOf(token, run, by, ttlMs, crypto.randomUUID(), known?.uid, known?.length);
    const { record, values } = (await this.send(claimScript, id, [...args, ...fieldsOf(details)])) as SessionReply;
    const [claimed, lost] = values;
    if (claimed !== 1) return { claimed: false, holder: record.holder as SessionHolder };
    return { ...record, claimed: true, ...(typeof lost === 'string' && { lost }) };
  }

  async append(id: string, append: SessionAppend): Promise<AppendAnswer> {
    const { token, length, entries, context, waits, release } = append;
    const args = [...argsOf(token, length, context), waits === undefined ? '' : argOf(waits), argOf(release)];
    const reply = await this.send(appendScript, id, [...args, ...writeEntries(entries, this.keys.session(id))]);
    if (reply === undefined) return NOT_STORED;
    const [owned, stored, released] = reply.values.map((value) => value === 1) as [boolean, boolean, boolean];
    const own = new Set(entries.map((entry) => entry.id));
    const others = reply.record.entries.filter((entry) => !own.has(entry.id));
    return { owned, stored, released, length: reply.record.length, entries: others };
  }

  async renew(id: string, { token, ttlMs, waitsFor }: SessionRenewal): Promise<boolean> {
    return (await this.send(renewScript, id, argsOf(token, ttlMs, waitsFor))) !== undefined;
  }

  async post(id: string, post: Entry): Promise<PostAnswer | undefined> {
    const stop = stopIn(post);
    const channel = this.watch === undefined ? '' : this.keys.posts(id);
    const entries = writeEntries(stop === undefined ? [post] : [post, stop.dropped], this.keys.session(id));
    const reply = await this.send(postScript, id, [channel, argOf(stop?.run), ...entries]);
    const holder = reply?.record.holder;
    return reply && { added: reply.values[0] === 1, ...(holder && { holder }) };
  }

  async load(id: string, { known, from, before, limit }: RecordQuery = {}): Promise<StoredRecord | undefined> {
    return (await this.send(loadScript, id, argsOf(known?.uid, known?.length, from, before, limit)))?.record;
  }

  async list(query: SessionQuery): Promise<SessionPage> {
    const { owner, limit, after } = resolveSessionQuery(query);
    const index = this.index(this.connection.begin(), owner);
    const sessions: SessionSummary[] = [];
    let last = after;
    for (;;) {
      const found = await index.read(last, limit - sessions.length + 1);
      const taken = found.slice(0, limit - sessions.length);
      const summaries = await mapConcurrent(taken, async (position) => {
        const summary = await this.summary(position.id, {});
        if (summary === undefined) await index.remove(position);
        return summary;
      });
      for (const it of summaries) if (it !== undefined && it.owner === owner && it.length > 0) sessions.push(it);
      last = taken.at(-1);
      if (last === undefined || taken.length === found.length) return { sessions, next: undefined };
      if (sessions.length === limit) return { sessions, next: cursorOf(last) };
    }
  }

  async update(id: string, { title, data }: Omit<SessionDetails, 'owner'>): Promise<SessionSummary | undefined> {
    const summary = await this.summary(id, { title, data });
    return summary && summary.length > 0 ? summary : undefined;
  }

  async delete(id: string): Promise<void> {
    await this.connection.begin()(deleteScript, this.keys.session(id), []);
  }

  /**
   * Sets the passed details if the session has entries. Returns its summary, or undefined if the session is not stored.
   */
  private async summary(id: string, details: SessionDetails): Promise<SessionSummary | undefined> {
    const reply = await this.send(detailsScript, id, fieldsOf(details));
    if (reply === undefined) return undefined;
    const { record, updatedAt } = reply;
    const [createdAt, owner, title, data] = reply.values;
    const found = Object.entries({ owner, title, data }).filter(([, value]) => value !== null);
    return { ...Object.fromEntries(found), id, length: record.length, createdAt, updatedAt } as SessionSummary;
  }

  private async send(script: RedisScript, id: string, args: readonly string[]): Promise<SessionReply | undefined> {
    const keys = this.keys.session(id);
    const run = this.connection.begin();
    const found = await run(script, keys, [argOf(this.ttlMs), ...args]);
    if (found === null) return undefined;
    const reply = readReply(found, keys);
    const { owner, updatedAt } = reply;
    if (owner === null) return reply;
    // If this write fails, the next entry updates the index.
    await this.index(run, owner)
      .write({ id, updatedAt }, this.indexTtl)
      .catch(() => {});
    return reply;
  }

  private index(run: RunScript, owner: string): RedisOwnerIndex {
    return new RedisOwnerIndex(this.keys.owner(toKeyPiece(owner)), run);
  }

  /**
   * The lifetime of an owner's index in milliseconds, or '0' for never. It is twice the lifetime of a session. An entry
   * older than one lifetime is written again at the next use of its session.
   */
  private get indexTtl(): string {
    return Number.isFinite(this.ttlMs) ? `${2 * this.ttlMs}` : '0';
  }
}

/** Converts a value to JSON, as an argument of a script. Undefined and Infinity become null. */
function argOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}

function argsOf(...values: readonly unknown[]): string[] {
  return values.map(argOf);
}

/** Returns the names and the values of the details that are not undefined. */
function fieldsOf(details: SessionDetails): string[] {
  return Object.entries(copyDetails(details)).flatMap(([name, value]) => [name, argOf(value)]);
}
