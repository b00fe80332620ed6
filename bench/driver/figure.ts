import { median } from './race.js';

/** A row of the report. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: '×' | 'µs' | 'ns' | 'ms' | 'B' | 'kB' | '';
  /** The upper bound of the value; undefined for a figure without a bound. */
  readonly bound?: number | undefined;
  /** True for a control, which is slow on purpose and must exceed the bound. */
  readonly control?: boolean | undefined;
  /** The value of each round. `value` is their median. */
  readonly rounds?: readonly number[] | undefined;
  /** Further information, such as the times behind a ratio. */
  readonly note?: string | undefined;
}

/** True if a figure is within its bound, or a control exceeds its bound. */
export function isRight({ value, bound, control = false }: Figure): boolean {
  return bound === undefined || (Number.isFinite(value) && value <= bound !== control);
}

/** Returns a figure whose value is the median of the rounds. */
export function figureOf(rounds: readonly number[], rest: Omit<Figure, 'value' | 'rounds'>): Figure {
  return { ...rest, value: median(rounds), rounds };
}

/** Formats a number with about three significant digits. */
export function digits(value: number): string {
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 1000) return Math.round(value).toLocaleString('en-US');
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(size >= 2 ? 2 : 3);
}
