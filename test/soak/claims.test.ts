import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from '@redis/client';
import { expect, test } from 'vitest';
import { Agent, HookAction, type SessionStore } from '../../src/index.js';
import { FileSessionStore } from '../../src/stores/file/file.js';
import { RedisSessionStore } from '../../src/stores/redis/redis.js';
import { calls, scriptedModel } from '../../src/testing/testing.js';
import type { RaceOrder } from '../fixtures/agent/claim-racer.js';
import { toolOf } from '../support/agent/sample-tools.js';
import { until } from '../support/agent/settle.js';
import { resultsIn } from '../support/agent/transcript.js';
import { soakCount } from '../support/soak/soak-count.js';
import { describeWithRedis, startRedis } from '../support/stores/redis-server.js';
import { temporaryFolder } from '../support/stores/temporary-folder.js';

const program = fileURLToPath(new URL('../fixtures/agent/claim-racer.ts', import.meta.url));
const ROUNDS = soakCount(200) === 200 ? 200 : 3;
const KINDS = ['file', 'redis'] as const;

interface Payment {
  readonly id: string;
  readonly pid: number;
  readonly attempt: number;
  readonly key: string;
}

interface Racer {
  readonly child: ChildProcess;
  readonly ready: Promise<unknown>;
  race(order: RaceOrder): Promise<string>;
}

function startRacer(...args: readonly string[]): Racer {
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    ready: lines.next(),
    async race(order) {
      child.stdin.write(`${JSON.stringify(order)}\n`);
      const { value } = await lines.next();
      return value === undefined ? 'killed' : JSON.parse(value).end;
    },
  };
}

async function suspend(store: SessionStore, id: string): Promise<RaceOrder['resume']> {
  const agent = new Agent({
    model: scriptedModel(calls('pay')),
    store,
    tools: [toolOf('pay', () => 'never')],
    lifecycle: [{ wrapToolCall: () => HookAction.suspend('Ask first.') }],
  });
  const { pending } = await (await agent.session({ id })).run('Pay the bill.');
  return Object.fromEntries(pending.map((call) => [call.id, 'approve'] as const));
}

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
    const racers = Array.from({ length: ROUNDS === 3 ? 4 : 5 }, start);
    const paymentsOf = (id: string): Payment[] =>
      readFileSync(ledger, 'utf8')
        .split('\n')
        .filter((line) => line.includes(`"${id}"`))
        .map((line) => JSON.parse(line));
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const store of KINDS) {
          const isKilled = round % 3 === 2;
          const id = `${store}-${round}`;
          const claimMs = isKilled ? 500 : 30_000;
          const order = { store, id, claimMs, hangs: isKilled, resume: await suspend(stores[store], id) };
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
          expect(Object.values(resultsIn(stored?.messages ?? []))).toEqual(['paid']);
        }
      }
    } finally {
      for (const { child } of racers) child.kill('SIGKILL');
      client.destroy();
      await server.remove();
    }
  });
});
