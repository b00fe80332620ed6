import { FileSessionStore, FileStateStore } from 'keelson/file';
import type { SessionStore } from 'keelson/store';
import { test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { testSessionStore } from '../../support/state/session-store-contract.js';
import { testStateStore } from '../../support/state/state-store-contract.js';
import { checkSameAsMemory } from '../../support/stores/same-as-memory.js';
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

test('FileSessionStore gives the answers of the memory store, also if each call opens the directory again', async () => {
  const now = Date.now();
  await checkSameAsMemory(async () => {
    const folder = await temporaryFolder();
    const clock = fakeClock(now);
    const kept = new FileSessionStore({ folder, clock });
    let calls = 0;
    // Two of three calls open the directory again, and so read from the context on.
    const store = new Proxy(kept, {
      get(_target, name: keyof SessionStore) {
        calls += 1;
        const target = calls % 3 === 0 ? kept : new FileSessionStore({ folder, clock });
        return (Reflect.get(target, name) as () => unknown).bind(target);
      },
    });
    return { store, now, pass: async (ms) => void (await clock.advance(ms)) };
  }, 100);
}, 120_000);
