import { median } from './race.js';

/** One line of the report. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: '×' | 'µs' | 'ns' | 'ms' | 'B' | 'kB' | '';
  /** What the value may be at most; undefined where it is only reported. */
  readonly bound?: number | undefined;
  /** A control is broken on purpose: it has to miss the bound. */
  readonly control?: boolean | undefined;
  /** What each round gave; `value` is their median. */
  readonly rounds?: readonly number[] | undefined;
  /** What else is worth knowing, such as the times behind a ratio. */
  readonly note?: string | undefined;
}

/** Whether a bound is held, and a control caught. */
export function isRight({ value, bound, control = false }: Figure): boolean {
  return bound === undefined || (Number.isFinite(value) && value <= bound !== control);
}

/** The median of some rounds. */
export function figureOf(rounds: readonly number[], rest: Omit<Figure, 'value' | 'rounds'>): Figure {
  return { ...rest, value: median(rounds), rounds };
}

/** A number with as many digits as say something. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 1000) return Math.round(value).toLocaleString('en-US');
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(size >= 2 ? 2 : 3);
}
