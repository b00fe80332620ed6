import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { afterAll, describe, expect, test } from 'vitest';
import { linesOf } from '../support/durable/file-log.js';
import { loggedStep, stepFaults } from '../support/durable/logged-step.js';

const folder = mkdtempSync(join(tmpdir(), 'keelson-step-faults-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const perform = (step: Step, key: string) => step('pay', async () => ({ at: 1 }), { key, kind: 'tool' });

const journalOf = ({ journal }: MemoryStep) => journal.flatMap((entry) => (entry ? [entry] : []));

describe('the check of the soak tests that no stored step runs again', () => {
  test.each([
    { what: 'a replay of the stored step', journal: 'kept', key: 'one', faults: [] },
    {
      what: 'an engine that has lost the step',
      journal: 'lost',
      key: 'one',
      faults: ['ran again after it was stored'],
    },
    { what: 'a changed key', journal: 'kept', key: 'two', faults: ['changed its key'] },
  ])('$what: $faults', async ({ what, journal, key, faults }) => {
    const path = join(folder, what.replaceAll(' ', '-'));
    const first = memoryStep();
    await perform(loggedStep(first, path), 'one');
    const next = memoryStep({ journal: journal === 'kept' ? first.journal : [] });
    await perform(loggedStep(next, path), key);

    const found = stepFaults(linesOf(path), journalOf(first));

    expect(found.filter((fault) => !fault.includes('another value'))).toEqual(
      faults.map((fault) => `step 0, "pay", ${fault}`),
    );
    expect(stepFaults(linesOf(path), [])).toEqual(['step 0, "pay", was not stored']);
  });
});
