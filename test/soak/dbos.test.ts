import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileStateStore } from 'keelson/file';
import { migrate, PostgresSessionStore } from 'keelson/postgres';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pause } from '../support/agent/settle.js';
import { type DbosSetup, startDbos } from '../support/durable/dbos-service.js';
import { deployAll } from '../support/durable/deploy/deployed-order.js';
import { STAGES, WORKS } from '../support/durable/errand.js';
import { fileLog } from '../support/durable/file-log.js';
import { finishErrand } from '../support/durable/finish-errand.js';
import { finishPairs } from '../support/durable/finish-pairs.js';
import type { KillOrder } from '../support/durable/kill.js';
import { makePurchases, PURCHASES } from '../support/durable/purchase/make-purchases.js';
import { describeWithPostgres } from '../support/stores/describe-postgres.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-dbos-'));

const MINUTES = 900_000;

describeWithPostgres('durable errands in DBOS', () => {
  let dbos: DbosSetup;

  beforeAll(async () => {
    dbos = await startDbos(folder);
  }, MINUTES);

  afterAll(async () => {
    await dbos.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs an errand, approves its payment as another process, and checks its answer, its log and its journal. */
  async function errand(name: string, kills: readonly KillOrder[] = []): Promise<void> {
    const { decide } = dbos;
    const call = () => dbos.call(name, kills);
    await finishErrand({ decide, call, journal: () => dbos.journal(name) }, join(folder, name), kills);
  }

  test(
    'a kill of the application at any work: the errand finishes',
    async () => {
      for (const { what, nth } of WORKS) {
        for (const phase of ['before', 'after'] as const) {
          await errand(`${phase} ${what} ${nth}`.replaceAll(' ', '-'), [{ what, nth, phase, pid: 0 }]);
        }
      }
    },
    MINUTES,
  );

  test(
    'a crash of PostgreSQL at any work: the errand finishes',
    async () => {
      for (const stage of STAGES) {
        const name = `postgres-${stage[0]}`.replaceAll(' ', '-');
        const running = errand(name);
        while (
          !fileLog(join(folder, name))
            .all()
            .some(({ what }) => what === stage[0])
        )
          await pause(1);
        dbos.postgres.kill();
        await pause(200);
        dbos.postgres.start();
        await running;
      }
    },
    MINUTES,
  );

  test(
    'a new version goes on with orders, or leaves them to a rollback',
    () => deployAll({ start: dbos.order, decide: dbos.decide, servicePid: dbos.servicePid }, folder),
    MINUTES,
  );

  test(
    'pairs of agents in one workflow finish despite kills at random calls, and their keys stay',
    () => finishPairs(dbos.pair, folder),
    MINUTES,
  );

  test(
    '50 errands at once finish despite random kills of the application',
    async () => {
      let isDone = false;
      const errands = Promise.all(Array.from({ length: 50 }, (_, index) => errand(`random-${index}`))).finally(() => {
        isDone = true;
      });
      let kills = 0;
      while (!isDone && kills < 12) {
        await pause(800 * Math.random());
        process.kill(dbos.servicePid(), 'SIGKILL');
        kills += 1;
        await pause(1_000);
      }
      await errands;

      expect(kills).toBeGreaterThan(2);
    },
    MINUTES,
  );

  test(
    `${PURCHASES} purchases in sessions finish despite random kills and a deploy, and every work has one key`,
    async () => {
      const client = new Pool({ connectionString: dbos.postgres.url, max: 4 });
      // The database is killed on purpose.
      client.on('error', () => {});
      await migrate(client);
      const kills = [
        () => process.kill(dbos.servicePid(), 'SIGKILL'),
        async () => {
          dbos.postgres.kill();
          await pause(200);
          dbos.postgres.start();
        },
      ];
      const stores = {
        sessions: new PostgresSessionStore({ client }),
        state: new FileStateStore({ folder: join(folder, 'state') }),
      };
      const decide = async (file: string, decisions: object): Promise<void> => {
        const isSent = await dbos.decide(file, decisions).then(
          () => true,
          () => false,
        );
        if (!isSent) return pause(100).then(() => decide(file, decisions));
      };

      const { kills: count, repeated } = await makePurchases({ folder, ...stores, start: dbos.buy, decide, kills });

      await client.end();
      console.log(`DBOS: ${PURCHASES} purchases, ${count} kills, ${repeated} works ran again`);
      expect(count).toBeGreaterThan(0);
    },
    4 * MINUTES,
  );
});
