import { type Lane, type LaneSpec, type LaneTimes, openLane, type Sample } from './lane.js';

export interface RaceOptions extends LaneTimes {
  readonly rounds: number;
  /** Blocks of each lane per round. */
  readonly passes: number;
  /** The time to compare. Default: `busyUs`. */
  readonly clock?: keyof Sample;
}

/** Time of each lane in each block, in µs per run: `rounds[round][pass][lane]`. */
export type Rounds = readonly (readonly (readonly number[])[])[];

/** Compares lanes. Each lane gets a new child process per round, and the blocks of the lanes alternate. */
export async function race(specs: readonly LaneSpec[], options: RaceOptions): Promise<Rounds> {
  const rounds = [];
  for (let round = 0; round < options.rounds; round++) rounds.push(await raceOnce(specs, options));
  return rounds;
}

async function raceOnce(specs: readonly LaneSpec[], options: RaceOptions): Promise<number[][]> {
  const lanes: Lane[] = [];
  for (const spec of specs) lanes.push(await openLane(spec, options));
  const passes: number[][] = [];
  for (let pass = 0; pass < options.passes; pass++) passes.push(await passOnce(lanes, pass, options));
  for (const lane of lanes) lane.close();
  return passes;
}

/** Every second pass runs the lanes in reverse order, so that no lane is always first. */
async function passOnce(lanes: readonly Lane[], pass: number, { clock = 'busyUs' }: RaceOptions): Promise<number[]> {
  const order = [...lanes.entries()];
  if (pass % 2 === 1) order.reverse();
  const taken: number[] = [];
  for (const [index, lane] of order) taken[index] = (await lane.block())[clock];
  return taken;
}

/** Returns the median of `of` over the passes of each round. */
export function perRound(rounds: Rounds, of: (taken: readonly number[]) => number): number[] {
  return rounds.map((passes) => median(passes.map(of)));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] as number;
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
