import { type Lane, type LaneSpec, type LaneTimes, openLane, type Sample } from './lane.js';

export interface RaceOptions extends LaneTimes {
  readonly rounds: number;
  /** Blocks of each lane in a round. */
  readonly passes: number;
  /** What counts. Default: `busyUs`. */
  readonly clock?: keyof Sample;
}

/** What a lane took in each block, in µs a run: `rounds[round][pass][lane]`. */
export type Rounds = readonly (readonly (readonly number[])[])[];

/** Runs lanes against each other: each in a new process a round, their blocks taking turns. */
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

/** Every other pass goes backwards, so that nobody always comes first. */
async function passOnce(lanes: readonly Lane[], pass: number, { clock = 'busyUs' }: RaceOptions): Promise<number[]> {
  const order = [...lanes.entries()];
  if (pass % 2 === 1) order.reverse();
  const taken: number[] = [];
  for (const [index, lane] of order) taken[index] = (await lane.block())[clock];
  return taken;
}

/** For each round the median of what `of` makes of the blocks that lie beside each other. */
export function perRound(rounds: Rounds, of: (taken: readonly number[]) => number): number[] {
  return rounds.map((passes) => median(passes.map(of)));
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] as number;
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}
