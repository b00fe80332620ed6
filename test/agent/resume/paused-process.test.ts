import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { messagesOf } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { expect, test } from 'vitest';
import { paymentsIn, startRacer, suspendPayment } from '../../support/agent/racers.js';
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
    const racers = [startRacer(folder, '', ledger), startRacer(folder, '', ledger)];
    try {
      await Promise.all(racers.map(({ ready }) => ready));
      const id = 'paused';
      const resume = await suspendPayment(store, id);
      const ends = racers.map((racer) => racer.race({ store: 'file', id, claimMs: 500, hangs: true, resume }));
      await until(() => paymentsIn(ledger, id).length > 0);
      const paused = racers.findIndex(({ child }) => child.pid === paymentsIn(ledger, id)[0]?.pid);
      racers[paused]?.child.kill('SIGSTOP');
      expect(await ends[1 - paused]).toBe('Paid.');
      racers[paused]?.child.kill('SIGCONT');

      expect(await ends[paused]).toBe('ERR_SESSION_LOST');
      expect(paymentsIn(ledger, id).map(({ attempt }) => attempt)).toEqual([1, 2]);
      const stored = await store.load(id);
      expect(Object.values(resultsIn(messagesOf(stored?.entries ?? [])))).toEqual(['paid']);
    } finally {
      for (const { child } of racers) child.kill('SIGKILL');
    }
  },
);
