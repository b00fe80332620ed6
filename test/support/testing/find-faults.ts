import type { AgentLifecycle } from 'keelson';
import { type AssertLifecycleOptions, assertLifecycle, LifecycleFaultyError } from 'keelson/testing';
import { expect, it } from 'vitest';

/** A faulty lifecycle, and the faults that `assertLifecycle` should report. */
export interface Bad {
  readonly it: string;
  readonly make: () => AgentLifecycle;
  readonly passive?: boolean;
  /** The number of concurrent runs. Default: 10. */
  readonly runs?: number;
  readonly faults: readonly unknown[];
}

/** Returns the faults that `assertLifecycle` reports, one string per fault. */
export async function faultsOf(
  make: () => AgentLifecycle,
  options: AssertLifecycleOptions = {},
): Promise<readonly string[]> {
  const thrown = await assertLifecycle(make, { limitMs: 200, ...options }).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(LifecycleFaultyError);
  return (thrown as LifecycleFaultyError).faults.map(({ check, run, problem }) => `${check} (${run}): ${problem}`);
}

/** Creates one test per lifecycle, which expects exactly these faults. */
export function itFinds(cases: readonly Bad[]): void {
  it.each(cases.map((bad) => [bad.it, bad] as const))('%s', async (_, { make, passive = false, runs = 10, faults }) => {
    expect(await faultsOf(make, { passive, runs })).toEqual(faults);
  });
}
