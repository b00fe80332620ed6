import { expect } from 'vitest';
import { ANSWER, faultsOf, USAGE } from './errand.js';
import { fileLog, linesOf } from './file-log.js';
import type { KillOrder } from './kill.js';
import { type StoredStep, stepFaults } from './logged-step.js';

/** An engine that runs errands in another process. */
export interface ErrandEngine {
  /** Starts the errand, and resolves with its result. */
  call(): Promise<unknown>;
  /** Sends decisions, as another process does, to the last wait that a file names. */
  decide(file: string, decisions: object): Promise<void>;
  /** Reads the steps of the finished errand from the journal of the engine. */
  journal(): Promise<readonly StoredStep[]>;
}

/**
 * The steps of an errand: the start, 9 model calls, a wait, and 8 tool calls, of which one is suspended first. Without the
 * failed model call and its wait, if a kill prevents that the failure is stored.
 */
const STEPS = [17, 19];

/** Runs an errand with its logs at `path`, approves its payment as another process, and checks its answer and its logs. */
export async function finishErrand(engine: ErrandEngine, path: string, kills: readonly KillOrder[]): Promise<void> {
  const running = engine.call();
  await engine.decide(`${path}.ask`, { call_3_0: 'approve' });
  expect(await running, path).toMatchObject({ text: ANSWER, usage: USAGE });
  expect(faultsOf(fileLog(path).all()), path).toEqual([]);
  const journal = await engine.journal();
  expect(stepFaults(linesOf(`${path}.steps`), journal), path).toEqual([]);
  expect(STEPS, path).toContain(journal.length);
  expect(linesOf(`${path}.kills`), path).toHaveLength(kills.length);
}
