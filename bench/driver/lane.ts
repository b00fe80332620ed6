import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Work } from '../work/script.mjs';

/** One side of a race: what it does, and on which build. */
export interface LaneSpec {
  /** `floor`, or the URL of a build of the library. */
  readonly side: string;
  readonly work: Partial<Work> & { readonly kind?: 'run' | 'construct' | 'concurrent' };
  /** For the process. */
  readonly nodeFlags?: readonly string[];
}

/** What one run took, in µs. */
export interface Sample {
  readonly wallUs: number;
  readonly cpuUs: number;
  /** The lesser of the two: other processes lengthen the one, helper threads the other. */
  readonly busyUs: number;
}

/** A warm process that runs a block when asked. */
export interface Lane {
  block(): Promise<Sample>;
  close(): void;
}

export interface LaneTimes {
  readonly warmMs: number;
  readonly blockMs: number;
}

const script = fileURLToPath(new URL('../work/lane.mjs', import.meta.url));

/** Starts a process for one side, checks its work and warms it up. */
export async function openLane({ side, work, nodeFlags = [] }: LaneSpec, times: LaneTimes): Promise<Lane> {
  const child = fork(script, [side, JSON.stringify(work)], { execArgv: [...nodeFlags] });
  await reply(child);
  const runs = await ask<number>(child, { warm: times });
  return { block: () => ask<Sample>(child, { runs }), close: () => child.disconnect() };
}

function ask<T>(child: ChildProcess, order: object): Promise<T> {
  child.send(order);
  return reply(child) as Promise<T>;
}

async function reply(child: ChildProcess): Promise<unknown> {
  const stop = new AbortController();
  const exited = once(child, 'exit', { signal: stop.signal }).then(() => {
    throw new Error(`a measured process ended: ${child.spawnargs.slice(1).join(' ')}`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: stop.signal }), exited]);
    return message;
  } finally {
    exited.catch(() => {});
    stop.abort();
  }
}
