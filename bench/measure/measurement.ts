import type { Builds } from '../driver/builds.js';
import { digits, type Figure } from '../driver/figure.js';
import type { LaneSpec } from '../driver/lane.js';
import { median, perRound, type RaceOptions, type Rounds } from '../driver/race.js';

/** What every measurement works with. */
export interface Setting {
  readonly builds: Builds;
  readonly race: RaceOptions;
}

/** Takes some figures; several where one race gives them all. */
export type Measurement = (setting: Setting) => Promise<Figure[]>;

/** The hand-written loop. */
export const FLOOR = 'floor';

/** The same work, by hand and by the library. */
export function lanesOf({ builds }: Setting, work: LaneSpec['work']): LaneSpec[] {
  return [
    { side: FLOOR, work },
    { side: builds.shipped, work },
  ];
}

/** For each round the ratio of one lane to another. */
export function ratios(rounds: Rounds, lane: number, to: number): number[] {
  return perRound(rounds, (taken) => (taken[lane] as number) / (taken[to] as number));
}

/** The median time of a lane. */
export function timeOf(rounds: Rounds, lane: number): number {
  return median(perRound(rounds, (taken) => taken[lane] as number));
}

/** The times behind a ratio, in words. */
export function timesNote(rounds: Rounds, lane: number, to: number): string {
  return `${digits(timeOf(rounds, lane))} µs against ${digits(timeOf(rounds, to))}`;
}
