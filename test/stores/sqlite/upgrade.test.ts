import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Message } from 'keelson';
import { describe, expect, test } from 'vitest';
import { steps } from '../../../src/stores/sqlite/schema.js';
import { SqliteSessionStore, SqliteStateStore } from '../../../src/stores/sqlite/sqlite.js';
import { describeEachSqlite } from '../../support/stores/sqlite.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const image: Message = {
  role: 'user',
  content: [
    { type: 'text', text: 'see' },
    { type: 'image', image: new Uint8Array([0, 1, 254, 255]), mediaType: 'image/png' },
  ],
};
/** A message with members that the stored form of version 2 uses. */
const misleading = Object.assign({ role: 'user' as const, content: 'p' }, { packed: 1, bytes: [[0]] });

/** Messages, and the JSON of each as version 2 stored it. */
const stored: readonly (readonly [Message, string])[] = [
  [{ role: 'user', content: 'a "b" \\ \u0000 ü 🎉' }, '{"role":"user","content":"a \\"b\\" \\\\ \\u0000 ü 🎉"}'],
  [
    image,
    '{"packed":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","image":"AAH+/w==","mediaType":"image/png"}]},"bytes":[[1]]}',
  ],
  [misleading, '{"packed":{"role":"user","content":"p","packed":1,"bytes":[[0]]},"bytes":[]}'],
  [
    Object.assign({ role: 'user' as const, content: 'q' }, { bytes: [[0]] }),
    '{"role":"user","content":"q","bytes":[[0]]}',
  ],
  [
    { role: 'assistant', content: [{ type: 'text', text: 'end' }] },
    JSON.stringify({ role: 'assistant', content: [{ type: 'text', text: 'end' }] }),
  ],
];

describeEachSqlite('a file of SQLite of an earlier version', ({ connect, optionsFor }) => {
  /** Writes a file as a version of the stores did. */
  async function oldFile(version: number): Promise<string> {
    const file = join(await temporaryFolder(), 'old.db');
    const old = connect(file);
    for (const step of steps.slice(0, version)) old.exec(step);
    old.exec(`PRAGMA user_version = ${version};
      INSERT INTO sessions (id, uid, revision, owner, title, created, updated, attempt, claim, claimed_until)
      VALUES ('a', 'u1', 3, 'ada', 'Ships', 1, 2, 1, 'gone', 9), ('b', 'u2', 1, 'ada', NULL, 1, 1, 0, NULL, NULL);
      INSERT INTO messages VALUES (2, 0, 1, '{');
      INSERT INTO state_sessions (id, bytes, ends) VALUES ('s', 2, 9000000000000000);
      INSERT INTO state_scopes VALUES (1, 'e', 2, 1);
      INSERT INTO state_values VALUES (1, 'e', 'k', 'v', 2, 0, NULL)`);
    const insert = old.prepare('INSERT INTO messages VALUES (1, ?, ?, ?)');
    for (const [at, [, json]] of stored.entries()) insert.run(at, Math.floor(at / 2) + 1, json);
    if (version === 2) old.exec('UPDATE sessions SET length = (SELECT count(*) FROM messages WHERE session = serial)');
    old.close();
    return file;
  }

  test.each([1, 2])('is upgraded from version %i, and each message becomes an entry', async (version) => {
    const store = new SqliteSessionStore(optionsFor(await oldFile(version)));

    expect(await store.load('a')).toEqual({
      uid: 'u1',
      length: stored.length,
      offset: 0,
      entries: stored.map(([message], at) => ({
        id: `${at}`,
        ...(at > 0 && { parent: `${at - 1}` }),
        at: 2,
        body: { type: 'message', message },
      })),
    });
  });

  test('keeps its lists and its state, and goes on with new entries', async () => {
    const file = await oldFile(2);
    const store = new SqliteSessionStore(optionsFor(file));

    expect(await store.list({ owner: 'ada' })).toEqual({
      sessions: [
        { id: 'a', owner: 'ada', title: 'Ships', length: 5, createdAt: 1, updatedAt: 2 },
        { id: 'b', owner: 'ada', length: 1, createdAt: 1, updatedAt: 1 },
      ],
      next: undefined,
    });
    const known = { uid: 'u1', length: 5 };
    const claimed = await store.claim('a', { token: 'x', run: 'x', ttlMs: 60_000, known });
    expect(claimed).toMatchObject({ claimed: true, length: 5, offset: 5, entries: [] });
    expect(claimed).not.toHaveProperty('lost');
    const next = { id: 'next', parent: '4', at: 3, body: { type: 'head' } } as const;
    const old = { ...next, id: '4' };
    expect(await store.append('a', { token: 'x', length: 5, entries: [old, next] })).toMatchObject({ length: 6 });
    expect((await store.load('a', { known }))?.entries).toEqual([next]);
    const policy = { ttlMs: 60_000, sessionTtlMs: 60_000, extensionBytes: 100, sessionBytes: 100 };
    const state = new SqliteStateStore(optionsFor(file));
    expect(await state.get({ extension: 'e', session: 's' }, 'k', policy)).toBe('v');
  });

  test('with a damaged message is upgraded, and only the session of that message is refused', async () => {
    const file = await oldFile(2);
    const store = new SqliteSessionStore(optionsFor(file));

    await expect(store.load('b')).rejects.toMatchObject({
      code: 'ERR_SQLITE_DATA',
      file,
      message: expect.stringContaining('entry 0 of session "b" is not JSON'),
    });
  });
});

describe('the schema of SQLite', () => {
  test('has the released steps unchanged, because files were made by them', () => {
    const digest = createHash('sha256')
      .update(JSON.stringify(steps.slice(0, 2)))
      .digest('hex');
    expect(digest).toBe('76e2c59517a71566e2185a81716e21070686e86b1803b2c57d219af6f71b206f');
  });
});
