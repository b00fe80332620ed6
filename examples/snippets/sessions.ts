import assert from 'node:assert/strict';
import {
  Agent,
  type KnownSession,
  MemorySessionStore,
  type Message,
  type SessionChange,
  type SessionClaim,
  SessionConflictError,
  type SessionDetails,
  SessionExistsError,
  type SessionFork,
  type SessionQuery,
  type SessionStore,
} from 'keelson';
import { says, scriptedModel } from 'keelson/testing';

const model = scriptedModel(({ messages }) => says(`I know ${messages.length} messages.`));

const store = new MemorySessionStore();
const agent = new Agent({ model, store, instructions: 'You are a pilot.' });

await using session = await agent.session({ id: 'harbour' });
await session.run('Where are we?');
const { text } = await session.run('And where do we go?');

assert.equal(text, 'I know 4 messages.');
assert.equal(session.messages.length, 4);
assert.equal(session.messages[0]?.role, 'user');

// Another object, as in another process: runs on one store object wait for each other.
const storeOfAnotherProcess: SessionStore = Object.create(store);

// #region conflict
const elsewhere = await new Agent({ model, store: storeOfAnotherProcess }).session({ id: 'harbour' });
const both = await Promise.allSettled([session.run('To the left?'), elsewhere.run('To the right?')]);

const lost = both.find((outcome) => outcome.status === 'rejected')?.reason;
if (lost instanceof SessionConflictError) await elsewhere.run('To the right?');
// #endregion

assert.ok(lost instanceof SessionConflictError);
assert.equal(lost.mine.length, 6);
assert.equal(lost.stored.length, 6);
assert.equal(elsewhere.messages.length, 8);

// #region list
const owned = await agent.session({ id: 'ada/1', owner: 'ada', title: 'Ships' });
await owned.run('Which ship is in the harbour?');

const { sessions, next } = await store.list({ owner: 'ada', limit: 20 });
await store.update('ada/1', { title: 'Ships in the harbour' });
await store.fork('ada/1', { id: 'ada/2', keep: 0 });
// #endregion

assert.deepEqual([sessions.length, sessions[0]?.title, next], [1, 'Ships', undefined]);

// #region store
/** Keeps each session as one object. A real store makes each change in one transaction. */
class RowStore implements SessionStore {
  private readonly rows = new Map<string, Row>();

  load(id: string, known?: KnownSession) {
    const row = this.rows.get(id);
    if (row === undefined) return undefined;
    const isKnown = known?.uid === row.uid && known.revision <= row.revision;
    const keep = isKnown ? row.messages.filter(({ revision }) => revision <= known.revision).length : 0;
    const messages: Message[] = row.messages.slice(keep).map(({ json }) => JSON.parse(json));
    return { uid: row.uid, revision: row.revision, keep, messages };
  }

  save(id: string, change: SessionChange, expected: number) {
    const row = this.rows.get(id) ?? newRow(change);
    const isClaimed = row.token !== undefined && Date.now() < row.until;
    if (row.revision !== expected || (change.uid !== undefined && change.uid !== row.uid)) return undefined;
    if (change.claim !== row.token && (change.claim !== undefined || isClaimed)) return undefined;
    const revision = expected + 1;
    const added = change.append.map((message) => ({ json: JSON.stringify(message), revision }));
    const messages = [...row.messages.slice(0, change.keep), ...added];
    this.rows.set(id, { ...row, revision, messages, updatedAt: Date.now(), token: undefined, attempt: 0 });
    return revision;
  }

  delete(id: string) {
    this.rows.delete(id);
  }

  claim(id: string, { token, revision, ttlMs }: SessionClaim) {
    const row = this.rows.get(id);
    if (row === undefined || row.revision !== revision) return undefined;
    if (row.token !== token) {
      if (row.token !== undefined && Date.now() < row.until) return undefined;
      row.attempt += 1;
    }
    Object.assign(row, { token, until: Date.now() + ttlMs });
    return row.attempt;
  }

  renew(id: string, token: string, ttlMs: number) {
    const row = this.rows.get(id);
    if (row?.token !== token) return false;
    row.until = Date.now() + ttlMs;
    return true;
  }

  release(id: string, token: string) {
    const row = this.rows.get(id);
    if (row?.token === token) row.token = undefined;
  }

  list({ owner, limit = 50, after }: SessionQuery) {
    const all = [...this.rows].map(([id, row]) => summaryOf(id, row)).filter((it) => it.owner === owner);
    all.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
    const start = after === undefined ? 0 : Number(after);
    const end = start + limit;
    return { sessions: all.slice(start, end), next: end < all.length ? `${end}` : undefined };
  }

  update(id: string, { title, data }: SessionDetails) {
    const row = this.rows.get(id);
    if (row === undefined) return undefined;
    row.details = { ...row.details, ...(title !== undefined && { title }), ...(data && { data }) };
    return summaryOf(id, row);
  }

  fork(id: string, { id: to, keep, details }: SessionFork) {
    const row = this.rows.get(id);
    if (row === undefined) return undefined;
    if (this.rows.has(to)) throw new SessionExistsError(to);
    const append = row.messages.slice(0, keep).map(({ json }) => JSON.parse(json));
    this.save(to, { keep: 0, append, details: { ...row.details, ...details } }, 0);
    return this.update(to, {});
  }
}

interface Row {
  readonly uid: string;
  readonly revision: number;
  readonly messages: readonly { readonly json: string; readonly revision: number }[];
  readonly createdAt: number;
  readonly updatedAt: number;
  details: SessionDetails;
  token: string | undefined;
  until: number;
  attempt: number;
}

function newRow({ uid = crypto.randomUUID(), details = {} }: SessionChange): Row {
  const now = Date.now();
  const claim = { token: undefined, until: 0, attempt: 0 };
  return { uid, revision: 0, messages: [], createdAt: now, updatedAt: now, details, ...claim };
}

function summaryOf(id: string, { details, revision, messages, createdAt, updatedAt }: Row) {
  return { ...details, id, revision, length: messages.length, createdAt, updatedAt };
}
// #endregion

const kept = new RowStore();
const first = await agent.session({ id: 'quay', store: kept });
await first.run('Moor here.');
await first.close();
const again = await agent.session({ id: 'quay', store: kept });
assert.deepEqual(
  again.messages.map(({ role }) => role),
  ['user', 'assistant'],
);
