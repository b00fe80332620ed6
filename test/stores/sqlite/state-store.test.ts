import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { SqliteStateStore } from '../../../src/stores/sqlite/sqlite.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { anySteps, outcomesOf } from '../../support/state/state-model.js';
import { describeEachSqlite } from '../../support/stores/sqlite.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

describeEachSqlite('the state in SQLite', ({ optionsFor }) => {
  test('any sequence of calls has the results of the reference store', async () => {
    const folder = await temporaryFolder();
    let files = 0;
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        files += 1;
        const clock = fakeClock(Date.now());
        const stores: SqliteStateStore[] = [];
        const open = () => {
          const store = new SqliteStateStore({ ...optionsFor(join(folder, `${files}.db`)), clock });
          stores.push(store);
          return store;
        };
        const [found, expected] = await outcomesOf(steps, { open, pass: (ms) => clock.advance(ms) });
        for (const store of stores) store.close();
        expect(found).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  }, 600_000);
});
