import { join } from 'node:path';
import { memoryStep } from 'keelson/durable';
import { expect } from 'vitest';
import { fileLog } from './file-log.js';
import { type Delays, randomDelays, twoAgents } from './two-agents.js';

const ROUNDS = 15;
const PAIRS = 5;

/** Runs 75 pairs of agents, five at once. Each pair kills its process at one or two random calls. */
export async function finishPairs(
  run: (name: string, delays: Delays, dieAt: readonly number[]) => Promise<unknown>,
  folder: string,
): Promise<void> {
  const pair = async (name: string) => {
    const delays = randomDelays();
    const dieAt = [randomPosition(8), randomPosition(16)];
    expect(await run(name, delays, dieAt), name).toEqual(await twoAgents(memoryStep(), () => {}, delays));
    const keys = fileLog(join(folder, name))
      .all()
      .map(({ key }) => key);
    expect(new Set(keys).size, name).toBe(8);
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    await Promise.all(Array.from({ length: PAIRS }, (_, index) => pair(`pair-${round}-${index}`)));
  }
}

function randomPosition(last: number): number {
  return 1 + Math.floor(last * Math.random());
}
