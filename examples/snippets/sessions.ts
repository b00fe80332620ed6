import assert from 'node:assert/strict';
import { Agent, type Entry, MemorySessionStore, SessionBusyError, textOf } from 'keelson';
import { compaction } from 'keelson/lifecycles';
import type {
  AppendAnswer,
  ClaimAnswer,
  PostAnswer,
  RecordQuery,
  SessionAppend,
  SessionClaim,
  SessionDetails,
  SessionHolder,
  SessionQuery,
  SessionRenewal,
  SessionStore,
} from 'keelson/store';
import { delays, says, scriptedModel, sessionStoreContract } from 'keelson/testing';

const model = scriptedModel(({ messages }) => says(`I know ${messages.length} messages.`));

const store = new MemorySessionStore();
const agent = new Agent({ model, store, instructions: 'You are a pilot.' });

{
  const question = 'Where are we?';
  const request = { id: 'question-7', user: 'ada' };
  await using session = await agent.session({ id: 'route' });
  // #region once
  const { text } = await session.run(question, { id: request.id, by: request.user });
  // #endregion
  assert.equal(text, 'I know 2 messages.');
  assert.equal((await session.run(question, { id: request.id })).text, text);
  assert.equal(session.entries.length, 2);
  assert.equal(session.entries[0]?.by, 'ada');
}

{
  await using session = await agent.session({ id: 'harbour' });
  await session.run('Where are we?');
  await session.run('To the left?', { id: 'turn' });

  // #region back
  const { parent = null } = session.entries.find(({ id }) => id === 'turn') ?? {};
  await session.run('', { at: 'turn' }); // answers the question again
  await session.run('To the right?', { at: parent }); // asks another question in its place
  await session.branch(parent); // goes back, and asks nothing
  // #endregion
  assert.deepEqual(session.messages.map(textOf), ['Where are we?', 'I know 2 messages.']);
  assert.equal(session.entries.length, 8);
}

{
  const folded = new Agent({ model, store, lifecycle: [compaction({ maxMessages: 6, keep: 2 })] });
  const long = await folded.session({ id: 'long' });
  for (let turn = 0; turn < 5; turn += 1) await long.run(`Question ${turn}`);
  // #region history
  await using session = await agent.session({ id: 'long' });
  const page = await session.history({ limit: 100 }); // the latest entries
  const earlier = await session.history({ before: page[0]?.id, limit: 100 }); // the entries before them
  const all = await session.allMessages(); // every message, as people read them
  // #endregion
  assert.equal(page.length, 11);
  assert.equal(earlier.length, 0);
  assert.equal(all.length, 10);
}

// Another object, as in another process: runs on one store object wait for each other.
const storeOfAnotherProcess: SessionStore = Object.create(store);

{
  const slow = new Agent({ model: scriptedModel(() => delays(200, says('Wait.'))), store });
  const elsewhere = new Agent({ model, store: storeOfAnotherProcess, timeouts: { queueMs: 20 } });
  const first = (await slow.session({ id: 'quay' })).run('May I moor?');
  const second = await elsewhere.session({ id: 'quay' });
  while ((await store.load('quay'))?.holder === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
  // #region busy
  const error = await second.run('And I?').catch((reason: unknown) => reason);
  if (error instanceof SessionBusyError) console.log(error.holder); // { run: 'run_…', until: 1764349200000 }
  // #endregion
  assert.ok(error instanceof SessionBusyError && error.holder?.run.startsWith('run_'));
  await first;
}

{
  // #region list
  const session = await agent.session({ id: 'ada/1', owner: 'ada', title: 'Ships' });
  await session.run('Which ship is in the harbour?');

  const { sessions, next } = await store.list({ owner: 'ada', limit: 20 });
  await store.update('ada/1', { title: 'Ships in the harbour' });
  await session.fork({ id: 'ada/2', details: { title: 'A copy' } });
  // #endregion
  assert.deepEqual([sessions.length, sessions[0]?.title, next], [1, 'Ships', undefined]);
  assert.equal((await store.list({ owner: 'ada' })).sessions.length, 2);
}

{
  await using session = await agent.session({ id: 'leak' });
  await session.run('Hello.');
  const last = session.entries.at(-1)?.id;
  await session.run('My key is hunter2.');
  // #region erase
  await session.fork({ id: 'leak-2', at: last }); // the entries up to `last`
  await store.delete('leak');
  // #endregion
  assert.doesNotMatch(JSON.stringify(await store.load('leak-2')), /hunter2/);
}

// #region store
/** Keeps each conversation as one object. A real store makes each change in one transaction. */
class RowStore implements SessionStore {
  private readonly rows = new Map<string, Row>();

  claim(id: string, { token, run, by, ttlMs, known, details }: SessionClaim): ClaimAnswer {
    const row = this.rows.get(id) ?? newRow();
    const other = row.held?.token === token ? undefined : row.held;
    if (other !== undefined && other.until > Date.now()) return { claimed: false, holder: shown(other) };
    this.rows.set(id, row);
    if (row.entries.length === 0) row.details = { ...row.details, ...details };
    row.held = { token, run, by, until: Date.now() + ttlMs };
    return { ...selected(row, { known, from: 'context' }), claimed: true, ...(other && { lost: other.run }) };
  }

  append(id: string, { token, length, entries, context, waits, release }: SessionAppend): AppendAnswer {
    const row = this.rows.get(id);
    if (row === undefined) return { owned: false, stored: false, released: false, length: 0, entries: [] };
    const owned = row.held?.token === token;
    const others = row.entries.slice(length).filter((entry) => !entries.some(({ id }) => id === entry.id));
    if (owned) {
      for (const entry of entries) add(row, entry);
      row.context = context ?? row.context;
      if (waits !== undefined) row.waits = waits;
    }
    const released = owned && release === true && others.length === 0;
    if (released) row.held = undefined;
    const stored = entries.every(({ id }) => row.ids.has(id));
    return { owned, stored, released, length: row.entries.length, entries: others };
  }

  renew(id: string, { token, ttlMs, waitsFor }: SessionRenewal) {
    const row = this.rows.get(id);
    if (row?.held?.token !== token) return false;
    row.held = { ...row.held, until: Date.now() + ttlMs, waitsFor };
    return true;
  }

  post(id: string, post: Entry): PostAnswer | undefined {
    const row = this.rows.get(id);
    if (row === undefined) return undefined;
    const added = add(row, post);
    const { body } = post;
    const isLate = body.type === 'post' && body.post.type === 'stop' && body.post.run !== (row.held?.run ?? row.waits);
    if (added && isLate) {
      const why = 'That run does not own the conversation.';
      add(row, { id: `${post.id}:dropped`, at: post.at, body: { type: 'dropped', post: post.id, why } });
    }
    return { added, ...(row.held && { holder: shown(row.held) }) };
  }

  load(id: string, query: RecordQuery = {}) {
    const row = this.rows.get(id);
    return row && selected(row, query);
  }

  list({ owner, limit = 50, after }: SessionQuery) {
    const all = [...this.rows].map(([id, row]) => summaryOf(id, row));
    const owned = all.filter((it) => it.owner === owner && it.length > 0);
    owned.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
    const start = after === undefined ? 0 : Number(after);
    const end = start + limit;
    return { sessions: owned.slice(start, end), next: end < owned.length ? `${end}` : undefined };
  }

  update(id: string, { title, data }: SessionDetails) {
    const row = this.rows.get(id);
    if (row === undefined || row.entries.length === 0) return undefined;
    row.details = { ...row.details, ...(title !== undefined && { title }), ...(data && { data }) };
    return summaryOf(id, row);
  }

  delete(id: string) {
    this.rows.delete(id);
  }
}

interface Row {
  readonly uid: string;
  readonly entries: Entry[];
  readonly ids: Set<string>;
  details: SessionDetails;
  createdAt: number;
  updatedAt: number;
  context: number;
  waits: string | null;
  held: (SessionHolder & { readonly token: string }) | undefined;
}

function newRow(): Row {
  const record = { uid: crypto.randomUUID(), entries: [], ids: new Set<string>(), context: 0 };
  return { ...record, details: {}, createdAt: 0, updatedAt: 0, waits: null, held: undefined };
}

function add(row: Row, entry: Entry): boolean {
  if (row.ids.has(entry.id)) return false;
  row.updatedAt = Date.now();
  if (row.entries.length === 0) row.createdAt = row.updatedAt;
  row.ids.add(entry.id);
  row.entries.push(entry);
  return true;
}

function selected({ uid, entries, context, held }: Row, { known, from, before, limit }: RecordQuery) {
  const { length } = entries;
  const isKnown = known?.uid === uid && known.length <= length;
  const first = from === 'context' ? context : 0;
  const end = before ?? length;
  const offset = Math.max(isKnown ? known.length : first, end - (limit ?? length));
  return { uid, length, offset, entries: entries.slice(offset, end), ...(held && { holder: shown(held) }) };
}

/** The token proves the claim, so nobody else may see it. */
function shown({ token: _token, ...holder }: SessionHolder & { readonly token: string }): SessionHolder {
  return holder;
}

function summaryOf(id: string, { details, entries, createdAt, updatedAt }: Row) {
  return { ...details, id, length: entries.length, createdAt, updatedAt };
}
// #endregion

const failed: string[] = [];
for (const { name, run } of sessionStoreContract({ open: () => new RowStore() })) {
  await run().catch(() => failed.push(name));
}
// The page says that this store neither checks nor copies what it is given.
assert.deepEqual(failed, [
  'list refuses a query that is not valid',
  'details share no data with its callers',
  'claim and update refuse details that are not valid',
]);
const kept = new RowStore();
const first = await agent.session({ id: 'quay', store: kept });
await first.run('Moor here.');
await first.close();
const again = await agent.session({ id: 'quay', store: kept });
assert.deepEqual(
  again.messages.map(({ role }) => role),
  ['user', 'assistant'],
);
