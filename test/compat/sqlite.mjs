// Runs the exported contracts against the SQLite stores of the packed package.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SqliteSessionStore, SqliteStateStore } from 'keelson/sqlite';
import { sessionStoreContract, stateStoreContract } from 'keelson/testing';

const folder = mkdtempSync(join(tmpdir(), 'keelson-sqlite-'));
let files = 0;
let now = 1_700_000_000_000;
const clock = { now: () => now, setTimeout, clearTimeout };
const pass = (ms) => {
  now += ms;
};
const close = (store) => store.close();
const options = () => {
  files += 1;
  return { file: join(folder, `${files}.db`), clock };
};

const ttlMs = 60_000;
const cases = [
  ...sessionStoreContract({ open: () => new SqliteSessionStore({ ...options(), ttlMs }), ttlMs, pass, close }),
  ...stateStoreContract({ open: () => new SqliteStateStore(options()), unitMs: 60_000, pass, close }),
];
try {
  for (const { run } of cases) await run();
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`the SQLite stores fulfil ${cases.length} cases of the contracts`);
