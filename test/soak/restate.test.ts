import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileSessionStore, FileStateStore } from 'keelson/file';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pause } from '../support/agent/settle.js';
import { deployAll } from '../support/durable/deploy/deployed-order.js';
import { WORKS } from '../support/durable/errand.js';
import { finishErrand } from '../support/durable/finish-errand.js';
import { finishPairs } from '../support/durable/finish-pairs.js';
import type { KillOrder } from '../support/durable/kill.js';
import { makePurchases, PURCHASES } from '../support/durable/purchase/make-purchases.js';
import { describeWithRestate, type RestateSetup, startRestate } from '../support/durable/restate-server.js';
import type { Delays } from '../support/durable/two-agents.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-restate-'));

const MINUTES = 600_000;

describeWithRestate('durable errands in Restate', () => {
  let restate: RestateSetup;

  beforeAll(async () => {
    restate = await startRestate(folder);
  }, MINUTES);

  afterAll(async () => {
    await restate.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs an errand, approves its payment as another process, and checks its answer, its log and its journal. */
  async function errand(name: string, kills: readonly KillOrder[] = [], slowMs = 0): Promise<void> {
    const { decide } = restate;
    const call = () => restate.call(name, { name, kills, slowMs });
    await finishErrand({ decide, call, journal: () => restate.journal(name) }, join(folder, name), kills);
  }

  test.each(['service', 'server'] as const)(
    'a kill of the %s at any work: the errand finishes',
    async (victim) => {
      for (const { what, nth } of WORKS) {
        for (const phase of ['before', 'after'] as const) {
          const pid = victim === 'service' ? 0 : restate.serverPid();
          await errand(`${victim} ${phase} ${what} ${nth}`.replaceAll(' ', '-'), [{ what, nth, phase, pid }]);
        }
      }
    },
    MINUTES,
  );

  test(
    'a new version goes on with orders, or leaves them to a rollback',
    async () => {
      const start = async (name: string) => (await restate.send('order', { name })).json();
      await deployAll({ start, decide: restate.decide, servicePid: restate.servicePid }, folder);
    },
    MINUTES,
  );

  test(
    'pairs of agents in one invocation finish despite kills at random calls, and their keys stay',
    async () => {
      const pair = async (name: string, delays: Delays, dieAt: readonly number[]) =>
        (await restate.send('both', { name, delays, dieAt })).json();
      await finishPairs(pair, folder);
    },
    MINUTES,
  );

  test(
    '50 errands at once finish despite random kills of the service and of the server',
    async () => {
      let isDone = false;
      const errands = Promise.all(Array.from({ length: 50 }, (_, index) => errand(`random-${index}`, [], 800))).finally(
        () => {
          isDone = true;
        },
      );
      let kills = 0;
      while (!isDone && kills < 12) {
        await pause(1_000 * Math.random());
        process.kill(kills % 2 === 1 ? restate.serverPid() : restate.servicePid(), 'SIGKILL');
        kills += 1;
        await pause(1_500);
      }
      await errands;

      expect(kills).toBeGreaterThan(2);
    },
    MINUTES,
  );

  test(
    `${PURCHASES} purchases in sessions finish despite random kills and a deploy, and every work has one key`,
    async () => {
      const { decide } = restate;
      const kills = [restate.servicePid, restate.serverPid].map((pid) => () => process.kill(pid(), 'SIGKILL'));
      const stores = {
        sessions: new FileSessionStore({ folder: join(folder, 'sessions') }),
        state: new FileStateStore({ folder: join(folder, 'state') }),
      };
      const start = (name: string) => restate.call(name, { name }, 'buy');

      const { kills: count, repeated } = await makePurchases({ folder, ...stores, start, decide, kills });

      console.log(`Restate: ${PURCHASES} purchases, ${count} kills, ${repeated} works ran again`);
      expect(count).toBeGreaterThan(0);
    },
    4 * MINUTES,
  );
});
