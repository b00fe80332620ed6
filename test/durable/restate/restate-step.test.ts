import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pause } from '../../support/agent/settle.js';
import { linesOf } from '../../support/durable/file-log.js';
import { describeWithRestate, type RestateSetup, startRestate } from '../../support/durable/restate-server.js';

const ANSWER = 'Done: search=a, search=b, search=c, found look=far, note=one, pay=7, note=two.';

describeWithRestate('restateStep with a real server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-restate-'));
  let restate: RestateSetup;

  beforeAll(async () => {
    restate = await startRestate(folder);
  }, 30_000);

  afterAll(async () => {
    await restate.close();
    if (!process.env.KEEP) rmSync(folder, { recursive: true, force: true });
  });

  /** Approves the payment of an errand, as another process. */
  async function approve(name: string): Promise<void> {
    for (;;) {
      const id = linesOf(join(folder, `${name}.ask`)).at(-1);
      if (id !== undefined && (await restate.resolve(id, { call_3_0: 'approve' }))) return;
      await pause(20);
    }
  }

  test('an errand finishes after an approval from another process', async () => {
    const running = restate.call('plain', { name: 'plain', kills: [] });
    await approve('plain');

    expect(await running).toMatchObject({ text: ANSWER });
  });

  test('an errand finishes after the service was killed', async () => {
    const kills = [
      { at: 3, phase: 'before', pid: 0 },
      { at: 4, phase: 'after', pid: 0 },
    ];
    const running = restate.call('killed', { name: 'killed', kills });
    await approve('killed');

    expect(await running).toMatchObject({ text: ANSWER });
  });
});
