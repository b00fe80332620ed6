import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pause } from '../agent/settle.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Returns the number of bytes that the results of `work` hold, after garbage collection. Runs `work` `times` times. */
export async function heldBytes(work: () => Promise<unknown>, times: number): Promise<number> {
  const results: unknown[] = [];
  const before = await usedBytes();
  for (let run = 0; run < times; run++) results.push(await work());
  const held = (await usedBytes()) - before;
  // The results must stay alive until the memory is measured.
  return results.length === times ? held : Number.NaN;
}

async function usedBytes(): Promise<number> {
  for (let round = 0; round < 2; round++) {
    collect();
    await pause(5);
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
