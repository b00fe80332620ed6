import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Agent, type Clock } from 'keelson';
import { FileSessionStore } from 'keelson/file';
import { scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { linesOf } from '../../support/agent/background/lab.js';
import { bundle } from '../../support/process/bundle.js';
import { temporaryFolder } from '../../support/stores/temporary-folder.js';

const program = await bundle(fileURLToPath(new URL('../../fixtures/agent/background-work.ts', import.meta.url)));

const LOST = 'user: The process that ran the background work "build" stopped. The work may be done in part or in full.';
/** A clock for which the lease of a work has run out. */
const later: Clock = {
  now: () => Date.now() + 60_000,
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (handle) => clearTimeout(handle as NodeJS.Timeout),
};

test('over files, a work is told as lost once its process was killed, and not before', async () => {
  const folder = await temporaryFolder();
  const child = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(createInterface({ input: child.stdout }), 'line');
  const store = new FileSessionStore({ folder, clock: later });
  const agent = new Agent({ model: scriptedModel(['One.', 'Two.', 'Three.']), store, clock: later });
  const session = await agent.session({ id: 's' });
  await session.run('Is it built?');
  const before = linesOf(session.messages);
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  await session.run('And now?');
  await session.run('And now?');

  expect(before).not.toContain(LOST);
  expect(linesOf(session.messages).slice(before.length)).toEqual([
    LOST,
    ...['user: And now?', 'assistant: Two.', 'user: And now?', 'assistant: Three.'],
  ]);
  expect(await readdir(folder)).toHaveLength(1);
  await agent.close();
});
