import { join } from 'node:path';
import { SqliteSessionStore, SqliteStateStore } from '../../../src/stores/sqlite/sqlite.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { testSessionStore } from '../../support/state/session-store-contract.js';
import { LONG_CASE, testStateStore } from '../../support/state/state-store-contract.js';
import { describeEachSqlite } from '../../support/stores/sqlite.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

describeEachSqlite('in a file of SQLite', ({ optionsFor }) => {
  testStateStore(
    'SqliteStateStore',
    async () => {
      const clock = fakeClock(Date.now());
      const store = new SqliteStateStore({ ...optionsFor(join(await temporaryFolder(), 'state.db')), clock });
      return { store, pass: (ms) => clock.advance(ms), close: () => store.close() };
    },
    { includes: (title) => title !== LONG_CASE },
  );

  const clock = fakeClock(Date.now());
  const ttlMs = 60_000;
  testSessionStore(
    'SqliteSessionStore',
    async () => {
      const place = optionsFor(join(await temporaryFolder(), 'sessions.db'));
      return new SqliteSessionStore({ ...place, clock, ttlMs });
    },
    { ttlMs, pass: (ms) => clock.advance(ms) },
  );
});
