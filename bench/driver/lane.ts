import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Work } from '../work/script.mjs';

/** One side of a race: its work and its build. */
export interface LaneSpec {
  /** `floor`, or the URL of a build of the library. */
  readonly side: string;
  readonly work: Partial<Work> & { readonly kind?: 'run' | 'construct' | 'concurrent' };
  /** Flags of the child process. */
  readonly nodeFlags?: readonly string[];
}

/** The time of one run, in µs. */
export interface Sample {
  readonly wallUs: number;
  readonly cpuUs: number;
  /** The smaller of wall time and CPU time: other processes add to wall time, helper threads to CPU time. */
  readonly busyUs: number;
}

/** A warmed-up child process that runs a block on request. */
export interface Lane {
  block(): Promise<Sample>;
  close(): void;
}

export interface LaneTimes {
  readonly warmMs: number;
  readonly blockMs: number;
}

const script = fileURLToPath(new URL('../work/lane.mjs', import.meta.url));

/** Starts a child process for one side, checks its work and warms it up. */
export async function openLane({ side, work, nodeFlags = [] }: LaneSpec, times: LaneTimes): Promise<Lane> {
  const child = fork(script, [side, JSON.stringify(work)], { execArgv: [...nodeFlags] });
  await reply(child);
  const runs = await ask<number>(child, { warm: times });
  return { block: () => ask<Sample>(child, { runs }), close: () => child.disconnect() };
}

/** Sends an order to a child process, and returns its answer. */
export function ask<T>(child: ChildProcess, order: object): Promise<T> {
  child.send(order);
  return reply(child) as Promise<T>;
}

/** Returns the next message of a child process. Fails if the process exits. */
export async function reply(child: ChildProcess): Promise<unknown> {
  const stop = new AbortController();
  const exited = once(child, 'exit', { signal: stop.signal }).then(() => {
    throw new Error(`The measured process ended before its block was finished: ${child.spawnargs.slice(1).join(' ')}`);
  });
  try {
    const [message] = await Promise.race([once(child, 'message', { signal: stop.signal }), exited]);
    return message;
  } finally {
    exited.catch(() => {});
    stop.abort();
  }
}
