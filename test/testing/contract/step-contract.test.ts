import { defineStep, type MemoryStep, memoryStep, type Step } from 'keelson/durable';
import { type StepProgram, stepContract } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { testStep } from '../../support/durable/step-contract.js';

class Crash extends Error {}

type MakeStep = (id: string, journal: MemoryStep['journal']) => Step & Pick<MemoryStep, 'journal'>;

/** Runs a program with memory steps, which `make` may change. */
const executeWith = (make: MakeStep) => async (id: string, program: StepProgram) => {
  for (let journal: MemoryStep['journal'] = []; ; ) {
    const step = make(id, journal);
    try {
      return await program({ step, crash: () => Promise.reject(new Crash()) });
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
      journal = step.journal;
    }
  }
};

const whole: MakeStep = (id, journal) => memoryStep({ id, journal });

testStep('memoryStep', executeWith(whole));

const FAULTS: Readonly<Record<string, readonly [make: MakeStep, title: RegExp]>> = {
  'stores nothing': [(id) => whole(id, []), /stored step gives its value/],
  'changes its id': [(id, journal) => whole(id + journal.length + Math.random(), journal), /the id is the same/],
  'allows one step at a time': [
    (id, journal) => {
      const inner = whole(id, journal);
      let isOpen = false;
      const step = defineStep(id, async (...call) => {
        if (isOpen) throw new TypeError('Another step is open.');
        isOpen = true;
        const value = await inner(...call);
        isOpen = false;
        return value;
      });
      return Object.assign(step, { journal: inner.journal });
    },
    /run at the same time/,
  ],
  'gives texts': [
    (id, journal) => {
      const inner = whole(id, journal);
      const step = defineStep(id, async (...call) => JSON.stringify(await inner(...call)));
      return Object.assign(step, { journal: inner.journal });
    },
    /gives the value of its work/,
  ],
  'names no stored steps': [
    (id, journal) => Object.assign(whole(id, journal), { unread: () => [] }),
    /unread names the stored steps/,
  ],
};

describe('the contract of a step finds an engine that', () => {
  test.each(Object.entries(FAULTS))('%s', async (_fault, [make, title]) => {
    const failed: string[] = [];
    for (const { name, run } of stepContract({ execute: executeWith(make) })) {
      await run().catch(() => failed.push(name));
    }
    expect(failed).toContainEqual(expect.stringMatching(title));
  });
});
