import { expect } from 'vitest';
import { ANSWER, faultsOf, STAGES, USAGE } from './errand.js';
import { fileLog, linesOf } from './file-log.js';
import type { KillOrder } from './kill.js';
import { stepFaults } from './logged-step.js';

/** An engine that runs errands in another process. */
export interface ErrandEngine {
  /** Starts the errand, and resolves with its result. */
  call(): Promise<unknown>;
  /** Sends decisions, as another process does, to the last wait that a file names. */
  decide(file: string, decisions: object): Promise<void>;
}

/** Runs an errand with its logs at `path`, approves its payment as another process, and checks its answer and its logs. */
export async function finishErrand(engine: ErrandEngine, path: string, kills: readonly KillOrder[]): Promise<void> {
  const running = engine.call();
  await engine.decide(`${path}.ask`, { call_3_0: 'approve' });
  expect(await running, path).toMatchObject({ text: ANSWER, usage: USAGE });
  expect(faultsOf(fileLog(path).all()), path).toEqual([]);
  const steps = linesOf(`${path}.steps`);
  expect(new Set(steps).size, path).toBeGreaterThan(2 * STAGES.length);
  expect(stepFaults(steps), path).toEqual([]);
  expect(linesOf(`${path}.kills`), path).toHaveLength(kills.length);
}
