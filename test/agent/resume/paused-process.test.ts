import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FileSessionStore } from '../../../src/stores/file/file.js';
import { paymentsIn, type Racer, startRacer, suspendPayment } from '../../support/agent/racers.js';
import { until } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

test.skipIf(process.platform === 'win32')(
  'a process that is paused loses its claim, and saves nothing when it continues',
  { timeout: 120_000 },
  async () => {
    const folder = await temporaryFolder();
    const ledger = join(folder, 'ledger');
    writeFileSync(ledger, '');
    const store = new FileSessionStore({ folder });
    const racers = Array.from({ length: 3 }, () => startRacer(folder, '', ledger));
    try {
      await Promise.all(racers.map(({ ready }) => ready));
      for (const round of [1, 2, 3]) {
        const id = `paused-${round}`;
        const order = {
          store: 'file',
          id,
          claimMs: 500,
          hangs: true,
          resume: await suspendPayment(store, id),
        } as const;
        const ends = racers.map((racer) => racer.race(order));
        await until(() => paymentsIn(ledger, id).length > 0);
        const paused = racers.find(({ child }) => child.pid === paymentsIn(ledger, id)[0]?.pid) as Racer;
        paused.child.kill('SIGSTOP');
        await Promise.all(ends.filter((_, at) => racers[at] !== paused));
        paused.child.kill('SIGCONT');

        expect((await Promise.all(ends)).sort()).toEqual(['ERR_RESUME_INVALID', 'ERR_RESUME_INVALID', 'Paid.']);
        expect(await ends[racers.indexOf(paused)]).toBe('ERR_RESUME_INVALID');
        expect(paymentsIn(ledger, id).map(({ attempt }) => attempt)).toEqual([1, 2]);
        const stored = await store.load(id);
        expect(Object.values(resultsIn(stored?.messages ?? []))).toEqual(['paid']);
      }
    } finally {
      for (const { child } of racers) child.kill('SIGKILL');
    }
  },
);
