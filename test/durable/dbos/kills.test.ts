import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANSWER, faultsOf, USAGE } from '../../support/durable/errand.js';
import { type DbosSetup, startDbos } from '../../support/durable/dbos-service.js';
import { fileLog, linesOf } from '../../support/durable/file-log.js';
import type { KillOrder } from '../../support/durable/kill.js';
import { describeWithPostgres } from '../../support/stores/describe-postgres.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-dbos-'));

describeWithPostgres('dbosStep in a process that dies', () => {
  let dbos: DbosSetup;

  beforeAll(async () => {
    dbos = await startDbos(folder);
  }, 60_000);

  afterAll(async () => {
    await dbos.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('an errand finishes after kills of the application, and runs no stored step again', async () => {
    const kills: KillOrder[] = [
      { what: 'tool search c', phase: 'before', pid: 0, delayMs: 200 },
      { what: 'tool pay 7', phase: 'after', pid: 0 },
    ];
    const path = join(folder, 'killed');
    const running = dbos.call('killed', kills);
    await dbos.decide(`${path}.ask`, { call_3_0: 'approve' });

    expect(await running).toMatchObject({ text: ANSWER, usage: USAGE });
    const works = fileLog(path).all();
    expect(linesOf(`${path}.kills`)).toEqual(['before tool search c', 'after tool pay 7']);
    expect(faultsOf(works)).toEqual([]);
    // The searches a and b were stored when the process died, and c had not begun.
    expect(works.filter(({ what }) => what.startsWith('tool search'))).toHaveLength(3);
    expect(works.filter(({ what }) => what === 'tool pay 7')).toHaveLength(2);
  }, 30_000);
});
