import { positionsOf } from '../../story/positions.js';
import type { Item, Lane, Story } from '../../story/story.js';
import type { Spot } from './red-line.js';
import type { Row } from './rows.js';

/** The positions of rows and items on the timeline, in pixels. */
export class Placement {
  private readonly xs: Float64Array;

  constructor(
    story: Story,
    readonly rows: readonly Row[],
    readonly width: number,
  ) {
    this.xs = positionsOf(story.records, width);
  }

  get height(): number {
    const last = this.rows.at(-1);
    return last === undefined ? 0 : last.top + last.height + 6;
  }

  /** Returns the horizontal position of a record. */
  x(index: number): number {
    return this.xs[index] ?? 0;
  }

  /** Returns the row of a lane, or undefined if the lane is folded. */
  rowOf(lane: Lane): Row | undefined {
    return this.rows.find((row) => row.lane === lane);
  }

  rangeOf({ from, to }: Item): readonly [number, number] {
    return [this.x(from), this.x(to)];
  }

  /**
   * Returns the point at which the red line meets an item: near the end of a wide item, and in the middle of others.
   * Returns undefined if the lane of the item is folded.
   */
  spotOf(item: Item): Spot | undefined {
    const row = this.rowOf(item.lane);
    if (row === undefined) return undefined;
    const [start, end] = this.rangeOf(item);
    const x = end - start > 40 ? end - 12 : (start + end) / 2;
    return { x: Math.max(16, x), y: row.top + row.height / 2 };
  }
}
