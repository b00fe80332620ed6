import { type RunLogContractOptions, runLogContract } from 'keelson/testing';
import { describe, test } from 'vitest';

/** Defines the tests that every run log must pass. */
export function testRunLog(name: string, subject: RunLogContractOptions): void {
  describe(`${name} fulfils the contract of a run log:`, () => {
    for (const { name: title, run } of runLogContract(subject)) test(title, run, 30_000);
  });
}
