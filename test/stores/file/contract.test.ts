import { FileSessionStore, FileStateStore } from '../../../src/stores/file/file.js';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { testSessionStore } from '../../support/state/session-store-contract.js';
import { testStateStore } from '../../support/state/state-store-contract.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

// covers: S1-6.2.2
testStateStore('FileStateStore', async () => {
  const clock = fakeClock(Date.now());
  return { store: new FileStateStore({ folder: await temporaryFolder(), clock }), pass: (ms) => clock.advance(ms) };
});

const clock = fakeClock(Date.now());
const ttlMs = 60_000;
testSessionStore(
  'FileSessionStore',
  async () => new FileSessionStore({ folder: await temporaryFolder(), clock, ttlMs }),
  { ttlMs, pass: (ms) => clock.advance(ms) },
);
