import { join } from 'node:path';
import { test } from 'vitest';
import { SqliteSessionStore } from '../../../src/stores/sqlite/sqlite.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { checkSameAsMemory } from '../../support/stores/same-as-memory.js';
import { describeEachSqlite } from '../../support/stores/sqlite.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

describeEachSqlite('the session store of SQLite', ({ optionsFor }) => {
  test('gives the answers of the memory store to any sequence of calls', async () => {
    const clock = fakeClock(1_000);
    const file = join(await temporaryFolder(), 'sessions.db');
    const store = new SqliteSessionStore({ ...optionsFor(file), clock });
    const open = async () => {
      await store.delete('s');
      return { store, now: clock.now(), pass: clock.advance };
    };

    await checkSameAsMemory(open, 200);
  }, 120_000);
});
