import { join } from 'node:path';
import { SqliteSessionStore } from 'keelson/sqlite';
import { test } from 'vitest';
import { checkSharedTurns } from '../../support/stores/shared-turns.js';
import { describeEachSqlite } from '../../support/stores/sqlite.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

// `npm run soak` kills each process 20 times.
describeEachSqlite('in a file of SQLite', ({ optionsFor }) => {
  test('two processes that are killed once each lose no acknowledged turn', async () => {
    const file = join(await temporaryFolder(), 'sessions.db');
    const store = new SqliteSessionStore(optionsFor(file));
    await checkSharedTurns({ kind: 'sqlite', place: file }, store, { count: 25, kills: 1 });
  }, 60_000);
});
