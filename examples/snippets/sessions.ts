import assert from 'node:assert/strict';
import { Agent, MemorySessionStore, SessionConflictError, type SessionStore } from 'keelson';
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
const storeOfAnotherProcess: SessionStore = {
  load: (id) => store.load(id),
  save: (...change) => store.save(...change),
  delete: (id) => store.delete(id),
};

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

// #region store
class JsonStore implements SessionStore {
  private readonly rows = new Map<string, { readonly json: string[]; readonly revision: number }>();

  load(id: string) {
    const row = this.rows.get(id);
    return row && { messages: row.json.map((json) => JSON.parse(json)), revision: row.revision };
  }

  // A real store does this in one transaction or one script.
  save(id: string, { keep, append }: Parameters<SessionStore['save']>[1], expected: number) {
    const { json, revision } = this.rows.get(id) ?? { json: [], revision: 0 };
    if (revision !== expected) return undefined;
    const added = append.map((message) => JSON.stringify(message));
    this.rows.set(id, { json: [...json.slice(0, keep), ...added], revision: revision + 1 });
    return revision + 1;
  }

  delete(id: string) {
    this.rows.delete(id);
  }
}
// #endregion

const kept = new JsonStore();
const first = await agent.session({ id: 'quay', store: kept });
await first.run('Moor here.');
await first.close();
const again = await agent.session({ id: 'quay', store: kept });
assert.deepEqual(
  again.messages.map(({ role }) => role),
  ['user', 'assistant'],
);
