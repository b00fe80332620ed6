import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';

const program = fileURLToPath(new URL('../../../fixtures/stores/run-log-process.ts', import.meta.url));
const COUNT = 2_000;

/** Starts a process on a log. Returns the lines that it prints, after it has ended. */
async function linesOf(order: object): Promise<{ readonly from: number; readonly found: unknown[] }[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', program, JSON.stringify({ ...order, count: COUNT })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  expect(await ended).toEqual([0, null]);
  return lines.map((line) => JSON.parse(line));
}

/** Checks that a process which follows the log of another one from random offsets reads each event once, in order. */
export async function checkFollowed(kind: string, place: string): Promise<void> {
  const [followers] = await Promise.all([
    linesOf({ kind, place, follow: true }),
    linesOf({ kind, place, follow: false }),
  ]);

  expect(followers).toHaveLength(6);
  for (const { from, found } of followers) {
    expect(found).toEqual(Array.from({ length: COUNT - from }, (_, at) => [from + at, from + at]));
  }
}
