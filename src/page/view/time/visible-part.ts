import type { Item, Story } from '../../story/story.js';
import { barOf } from './bars.js';
import { type Column, contextColumns } from './context.js';
import type { Placement } from './placement.js';
import type { Row } from './rows.js';

/** Items are also drawn if they are at most this number of pixels outside the visible part. */
const MARGIN = 600;

/**
 * Draws the items near the visible part of the timeline. The selected item is always drawn, because it may have the
 * focus.
 */
export class VisiblePart {
  private readonly bars = new Map<Item, HTMLElement>();
  private readonly columns: readonly Column[];
  private matches: ReadonlySet<Item> | undefined;
  private selected: Item | undefined;

  constructor(
    private readonly story: Story,
    private readonly placement: Placement,
    private readonly select: (item: Item) => void,
  ) {
    this.columns = contextColumns(story, placement);
  }

  /**
   * Creates elements for the items that are now near the visible part, and removes elements that are far away. Returns
   * the new elements.
   */
  draw(left: number, width: number): DocumentFragment {
    const from = left - MARGIN;
    const to = left + width + MARGIN;
    const added = document.createDocumentFragment();
    for (const row of this.placement.rows) {
      for (const item of row.lane.items) {
        const [start, end] = this.placement.rangeOf(item);
        const isNear = item === this.selected || (end >= from && start <= to);
        const bar = this.bars.get(item);
        if (isNear && bar === undefined) added.append(this.drawItem(item, row));
        if (isNear || bar === undefined || document.activeElement === bar) continue;
        bar.remove();
        this.bars.delete(item);
      }
    }
    for (const { x, root } of this.columns) if (x >= from && x <= to && !root.isConnected) added.append(root);
    return added;
  }

  /** Fades the items that do not match a search. Undefined means that all items match. */
  show(matches: ReadonlySet<Item> | undefined): void {
    this.matches = matches;
    for (const [item, bar] of this.bars) bar.classList.toggle('faded', matches?.has(item) === false);
  }

  mark(item: Item | undefined): void {
    const earlier = this.selected && this.bars.get(this.selected);
    earlier?.classList.remove('selected');
    earlier?.setAttribute('tabindex', '-1');
    this.selected = item;
    const bar = item && this.bars.get(item);
    bar?.classList.add('selected');
    bar?.setAttribute('tabindex', '0');
  }

  barOf(item: Item): HTMLElement | undefined {
    return this.bars.get(item);
  }

  private drawItem(item: Item, { top, height }: Row): HTMLElement {
    const [start, end] = this.placement.rangeOf(item);
    const bar = barOf(this.story, item, end - start);
    const isMoment = bar.classList.contains('moment');
    bar.style.left = `${start}px`;
    bar.style.top = `${isMoment ? top + height / 2 : top + 3}px`;
    if (!isMoment) bar.style.height = `${height - 6}px`;
    if (this.matches?.has(item) === false) bar.classList.add('faded');
    bar.addEventListener('click', () => this.select(item));
    this.bars.set(item, bar);
    if (item === this.selected) this.mark(item);
    return bar;
  }
}
