import { join } from 'node:path';
import { SqliteSessionStore, SqliteStateStore } from '../../../src/stores/sqlite/sqlite.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { testSessionStore } from '../../support/state/session-store-contract.js';
import { LONG_CASE, testStateStore } from '../../support/state/state-store-contract.js';
import { describeWithSqlite } from '../../support/stores/sqlite.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

describeWithSqlite('in a file of SQLite', () => {
  testStateStore(
    'SqliteStateStore',
    async () => {
      const clock = fakeClock(Date.now());
      const store = new SqliteStateStore({ file: join(await temporaryFolder(), 'state.db'), clock });
      return { store, pass: (ms) => clock.advance(ms), close: () => store.close() };
    },
    { includes: (title) => title !== LONG_CASE },
  );

  const clock = fakeClock(Date.now());
  const ttlMs = 60_000;
  testSessionStore(
    'SqliteSessionStore',
    async () => new SqliteSessionStore({ file: join(await temporaryFolder(), 'sessions.db'), clock, ttlMs }),
    { ttlMs, pass: (ms) => clock.advance(ms) },
  );
});
