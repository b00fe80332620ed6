import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { messagesOf } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { RedisSessionStore } from 'keelson/redis';
import { expect, test } from 'vitest';
import { paymentsIn, type Racer, startRacer, suspendPayment } from '../../support/agent/racers.js';
import { until } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { describeWithRedis, startRedis } from '../../support/stores/redis-server.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const ROUNDS = 200;
const KINDS = ['file', 'redis'] as const;

describeWithRedis('three processes that resume one suspended session', () => {
  test('run the tool once, or tell the tool that this is a second attempt after a kill -9', {
    timeout: 600_000,
  }, async () => {
    const [folder, server] = [await temporaryFolder(), await startRedis()];
    const ledger = join(folder, 'ledger');
    writeFileSync(ledger, '');
    const client = await createClient({ url: server.url }).connect();
    const stores = { file: new FileSessionStore({ folder }), redis: new RedisSessionStore({ client }) };
    const start = () => startRacer(folder, server.url, ledger);
    // Spare processes replace those that are killed.
    const racers = Array.from({ length: 5 }, start);
    const paymentsOf = (id: string) => paymentsIn(ledger, id);
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const store of KINDS) {
          const isKilled = round % 3 === 2;
          const id = `${store}-${round}`;
          const claimMs = isKilled ? 500 : 30_000;
          const order = { store, id, claimMs, hangs: isKilled, resume: await suspendPayment(stores[store], id) };
          const three = racers.slice(0, 3);
          await Promise.all(three.map(({ ready }) => ready));
          const ends = Promise.all(three.map((racer) => racer.race(order)));
          if (isKilled) {
            await until(() => paymentsOf(id).length > 0);
            const claimant = three.find(({ child }) => child.pid === paymentsOf(id)[0]?.pid) as Racer;
            claimant.child.kill('SIGKILL');
            await once(claimant.child, 'exit');
            racers.splice(racers.indexOf(claimant), 1);
            if (round + 1 < ROUNDS) racers.push(start());
          }

          const ended = (await ends).sort();
          const payments = paymentsOf(id);
          const stored = await stores[store].load(id);
          expect(ended.filter((end) => end === 'Paid.')).toHaveLength(1);
          expect(ended).toEqual([
            'ERR_RESUME_INVALID',
            isKilled ? 'Paid.' : 'ERR_RESUME_INVALID',
            isKilled ? 'killed' : 'Paid.',
          ]);
          expect(payments.map(({ attempt }) => attempt)).toEqual(isKilled ? [1, 2] : [1]);
          expect(new Set(payments.map(({ key }) => key)).size).toBe(1);
          expect(Object.values(resultsIn(messagesOf(stored?.entries ?? [])))).toEqual(['paid']);
        }
      }
    } finally {
      for (const { child } of racers) child.kill('SIGKILL');
      client.destroy();
      await server.remove();
    }
  });
});
