import type { Builds } from '../driver/builds.js';
import { digits, type Figure } from '../driver/figure.js';
import type { LaneSpec } from '../driver/lane.js';
import { median, perRound, type RaceOptions, type Rounds } from '../driver/race.js';

/** The input of every measurement. */
export interface Setting {
  readonly builds: Builds;
  readonly race: RaceOptions;
}

/** Returns the figures of one measurement. */
export type Measurement = (setting: Setting) => Promise<Figure[]>;

/** The lane of the hand-written loop. */
export const FLOOR = 'floor';

/** Returns two lanes for the same work: the hand-written loop and the library. */
export function lanesOf({ builds }: Setting, work: LaneSpec['work']): LaneSpec[] {
  return [
    { side: FLOOR, work },
    { side: builds.shipped, work },
  ];
}

/** Returns the ratio of one lane to another in each round. */
export function ratios(rounds: Rounds, lane: number, to: number): number[] {
  return perRound(rounds, (taken) => (taken[lane] as number) / (taken[to] as number));
}

/** Returns the median time of a lane. */
export function timeOf(rounds: Rounds, lane: number): number {
  return median(perRound(rounds, (taken) => taken[lane] as number));
}

/** Describes the times behind a ratio. */
export function timesNote(rounds: Rounds, lane: number, to: number): string {
  return `${digits(timeOf(rounds, lane))} µs against ${digits(timeOf(rounds, to))}`;
}
