import { type StepContractOptions, stepContract } from 'keelson/testing';
import { describe, test } from 'vitest';

/** Defines the tests that the step of every durable engine must pass. */
export function testStep(name: string, execute: StepContractOptions['execute']): void {
  describe(`${name} fulfils the contract of a step:`, () => {
    for (const { name: title, run } of stepContract({ execute })) test(title, run, 60_000);
  });
}
