import fc from 'fast-check';
import { MemorySessionStore } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { describe, test } from 'vitest';
import { fakeClock } from '../../support/agent/fake-clock.js';
import { type PlayPlace, SessionPlay } from '../../support/agent/session-play.js';
import { sessionHistory } from '../../support/agent/session-steps.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

describe('any history of three agents in two processes has on record what a simple model has:', () => {
  const kinds: Readonly<Record<string, () => Promise<PlayPlace>>> = {
    memory: async () => {
      const clock = fakeClock();
      const store = new MemorySessionStore({ clock });
      return { stores: [store, store], pass: (ms) => clock.advance(ms) };
    },
    'two stores of one folder': async () => {
      const clock = fakeClock();
      const folder = await temporaryFolder();
      const open = () => new FileSessionStore({ folder, clock });
      return { stores: [open(), open()], pass: (ms) => clock.advance(ms) };
    },
  };

  test.each(Object.entries(kinds))('%s', { timeout: 120_000 }, async (name, open) => {
    await fc.assert(
      fc.asyncProperty(sessionHistory, async (steps) => {
        const play = new SessionPlay(await open());
        for (const [one, who] of steps) await play.make(one, who);
      }),
      { numRuns: name === 'memory' ? 50 : 10 },
    );
  });
});
