import fc from 'fast-check';
import { MemorySessionStore } from 'keelson';
import { test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { SessionPlay } from '../../support/agent/session-play.js';
import { sessionHistory } from '../../support/agent/session-steps.js';

test('2,000 histories of three agents in two processes have on record what a simple model has', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(sessionHistory, async (steps) => {
      const clock = fakeClock();
      const store = new MemorySessionStore({ clock });
      const play = new SessionPlay({ stores: [store, store], pass: (ms) => clock.advance(ms) });
      for (const [one, who] of steps) await play.make(one, who);
    }),
    { numRuns: 2_000 },
  );
});
