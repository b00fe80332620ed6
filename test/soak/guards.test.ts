import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { crowdedRunner, REFUSED, refusal } from '../support/shell-hooks/run-crowded.js';

const runCrowded = await crowdedRunner();
/** `test/shell-hooks/run/resources.test.ts` makes 100 calls. */
const calls = 1_000;

function workspace(): string {
  const folder = mkdtempSync(join(tmpdir(), 'keelson-guards-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

describe.each([undefined, 'continue', 'block'] as const)('with 256 descriptors and `onFailure: %s`', (onFailure) => {
  const hook = { ...refusal, onFailure };

  test('every call of one response starts its guard, and no guarded tool runs', { timeout: 120_000 }, async () => {
    const { ran, results, reasons } = await runCrowded({ workspaceDir: workspace(), calls, hook });

    expect({ ran, results }).toEqual({ ran: 0, results: calls });
    expect(reasons).toEqual([REFUSED]);
  });

  test('no guarded tool runs if more guards start at once than descriptors are free', {
    timeout: 120_000,
  }, async () => {
    const order = { workspaceDir: workspace(), calls, hook, maxProcesses: calls };
    const { ran, results, reasons } = await runCrowded(order);

    expect({ ran, results }).toEqual({ ran: 0, results: calls });
    expect(reasons).toEqual(expect.arrayContaining([REFUSED, expect.stringContaining('EMFILE')]));
  });
});
