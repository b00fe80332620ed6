import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Entry } from 'keelson';
import { migrate } from 'keelson/postgres';
import { Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import { pause } from '../../support/agent/settle.js';
import { bundle } from '../../support/process/bundle.js';
import { openStore } from '../../support/soak/open-store.js';
import { type FinalRecords, turnFaults } from '../../support/soak/turn-faults.js';
import { CLAIM_MS, PROCESSES, plannedTurns, TURNS } from '../../support/soak/turn-plan.js';
import { type SharedStore, TurnTakers } from '../../support/soak/turn-takers.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';
import { startPostgres } from '../../support/stores/postgres-server.js';
import { describeWithRedis, startRedis } from '../../support/stores/redis-server.js';
import { sqliteWays } from '../../support/stores/sqlite-way.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

/** `SOAK_SEED=… npm run soak -- sessions/stores` plans the same turns again. The kills hit other moments. */
const seed = Number(process.env.SOAK_SEED ?? Date.now() % 1_000_000);
const program = await bundle(fileURLToPath(new URL('../../fixtures/agent/turn-taker.ts', import.meta.url)));
const title = `${PROCESSES} processes that are killed at random lose nothing and repeat nothing in ${TURNS} turns each`;

/** Takes all turns, prints what happened, and checks the records. */
async function checkTurns(kind: SharedStore['kind'], place: string, outages: SharedStore['outages'] = []) {
  const takers = new TurnTakers({ kind, place, seed, program, outages });
  const begun = Date.now();
  await takers.takeAll();
  const { lines, kills, pauses } = takers;
  const codes = lines.flatMap((line) => (line.type === 'error' ? [line.code] : []));
  const lost = codes.filter((code) => code === 'ERR_SESSION_LOST').length;
  const counts = {
    ...{ seed, seconds: Math.round((Date.now() - begun) / 1_000), kills, pauses, outages: outages.length },
    'later attempts': lines.filter((line) => line.type === 'tool' && line.attempt > 1).length,
    'failed runs': codes.length,
    lost,
  };
  console.log(`${kind}: ${JSON.stringify(counts)}`);

  const records = await readRecords(kind, place);
  const faults = turnFaults(seed, lines, records);
  if (faults.length > 0) keepEvidence(kind, JSON.stringify({ seed, lines, records: [...records] }));
  expect(faults).toEqual([]);
  expect(kills).toBeGreaterThan(PROCESSES);
  // A process that works in time does not lose its claim.
  expect(lost).toBeLessThanOrEqual(pauses + outages.length * PROCESSES);
}

async function readRecords(kind: SharedStore['kind'], place: string): Promise<FinalRecords> {
  const { store, close } = await openStore(kind, place);
  const records = new Map<string, { readonly uid: string; readonly entries: readonly Entry[] }>();
  for (const id of new Set(plannedTurns(seed).map(({ session }) => session))) {
    const { uid = '', entries = [] } = (await store.load(id)) ?? {};
    records.set(id, { uid, entries });
  }
  await close();
  return records;
}

/** Another run with the same seed hits other moments, so a failure keeps what it has seen. */
function keepEvidence(kind: string, evidence: string): void {
  const file = join(tmpdir(), `keelson-soak-${kind}-${seed}.json`);
  writeFileSync(file, evidence);
  console.log(`The lines and the records are in ${file}`);
}

describe('in files', () => {
  test(title, async () => {
    await checkTurns('file', await temporaryFolder());
  });
});

if (sqliteWays.length === 0) console.log('Skipped, since Node has no node:sqlite: the turns in a file of SQLite');
describe.runIf(sqliteWays.length > 0)('in a file of SQLite', () => {
  test(title, async () => {
    await checkTurns('sqlite', join(await temporaryFolder(), 'sessions.db'));
  });
});

describeWithRedis('on a Redis that is restarted', () => {
  test(title, async () => {
    const server = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
    const crash = () => server.kill().then(() => server.start());
    const restart = () => server.stop().then(() => server.start());
    const longCrash = async () => {
      await server.kill();
      await pause(2 * CLAIM_MS);
      await server.start();
    };
    try {
      await checkTurns('redis', server.url, [crash, restart, longCrash, crash, restart, crash]);
    } finally {
      await server.remove();
    }
  });
});

describeWithPostgres('on a PostgreSQL that is restarted', () => {
  test(title, async () => {
    const server = await startPostgres();
    const pool = new Pool(server.settings);
    await migrate(pool);
    await pool.end();
    const restart = async () => server.restart();
    const crash = async () => {
      server.kill();
      server.start();
    };
    const longCrash = async () => {
      server.kill();
      await pause(2 * CLAIM_MS);
      server.start();
    };
    try {
      await checkTurns('postgres', server.url, [crash, restart, longCrash, crash, restart, crash]);
    } finally {
      server.remove();
    }
  });
});
