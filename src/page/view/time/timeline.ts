import type { Group, Item, Story } from '../../story/story.js';
import { drawn, element } from '../element.js';
import { labelAgain, labelOf, stripeOf, ticksOf } from './labels.js';
import { Placement } from './placement.js';
import { redLine } from './red-line.js';
import { AXIS_HEIGHT, foldedAtFirst, rowsOf, unfold } from './rows.js';
import { VisiblePart } from './visible-part.js';

/** The minimum space for each record, in pixels. */
const LEAST_SPACE = 7;
/** The empty space after the last record, in pixels. */
const END = 24;

/** The timeline of a run. Draws only the items near the visible part, so that long traces stay fast. */
export class Timeline {
  readonly root = element('div', {
    class: 'timeline',
    label: 'Time line',
    attributes: { role: 'group', tabindex: '0' },
  });
  private readonly labels = element('div', { class: 'labels' });
  private readonly tracks = element('div', { class: 'tracks' });
  private readonly line = drawn('svg', { class: 'red-line', 'aria-hidden': 'true' });
  private folded: Set<Group>;
  private placement: Placement;
  private part: VisiblePart;
  private matches: ReadonlySet<Item> | undefined;
  private path: readonly Item[] = [];
  private selected: Item | undefined;
  private zoom = 1;

  constructor(
    private story: Story,
    private readonly select: (item: Item) => void,
  ) {
    this.folded = foldedAtFirst(story);
    this.placement = new Placement(story, [], 0);
    this.part = new VisiblePart(story, this.placement, select);
    this.root.append(this.labels, this.tracks);
    let isPlanned = false;
    this.root.addEventListener('scroll', () => {
      if (isPlanned) return;
      isPlanned = true;
      requestAnimationFrame(() => {
        isPlanned = false;
        this.drawVisible();
      });
    });
  }

  /** Sets a longer version of the trace, and its selected item. The caller must call `lead` next, which draws both. */
  update(story: Story, selected: Item): void {
    const keys = new Set([...this.folded].map(({ key }) => key));
    this.folded = new Set(story.groups.filter(({ key }) => keys.has(key)));
    this.story = story;
    this.selected = selected;
  }

  /** Redraws everything for the current width. Keeps the focus on the same label or on the selected item. */
  arrange(): void {
    const { story, tracks, line } = this;
    const focused = this.root.contains(document.activeElement) ? (document.activeElement as HTMLElement) : undefined;
    const room = Math.max(200, this.root.clientWidth - this.labels.clientWidth - END);
    const width = Math.max(room, story.records.length * LEAST_SPACE) * this.zoom;
    this.placement = new Placement(story, rowsOf(story, this.folded), width);
    this.part = new VisiblePart(story, this.placement, this.select);
    this.part.show(this.matches);
    const { rows, height } = this.placement;
    const toggle = (group: Group) => {
      if (!this.folded.delete(group)) this.folded.add(group);
      this.arrange();
    };
    this.labels.replaceChildren(
      ...rows.map((row) => labelOf(row, this.folded.has(row.lane.group), () => toggle(row.lane.group))),
    );
    this.labels.style.height = `${height}px`;
    tracks.style.width = `${width + END}px`;
    tracks.style.height = `${height}px`;
    line.setAttribute('width', String(width + END));
    line.setAttribute('height', String(height));
    tracks.replaceChildren(...rows.map(stripeOf), ...ticksOf(story, this.placement), line);
    line.replaceChildren(...redLine(this.path.flatMap((item) => this.placement.spotOf(item) ?? [])));
    this.part.mark(this.selected);
    this.drawVisible();
    if (focused?.isConnected === false) this.focus(labelAgain(this.labels, focused));
  }

  zoomBy(factor: number): void {
    const { root } = this;
    const middle = (root.scrollLeft + root.clientWidth / 2) / this.tracks.clientWidth;
    this.zoom = Math.min(20, Math.max(0.05, this.zoom * factor));
    this.arrange();
    root.scrollLeft = middle * this.tracks.clientWidth - root.clientWidth / 2;
    this.drawVisible();
  }

  /** Fades the items that do not match a search. Undefined means that all items match. */
  show(matches: ReadonlySet<Item> | undefined): void {
    this.matches = matches;
    this.part.show(matches);
  }

  /** Draws the red line from the effect of a finding to its cause. */
  lead(path: readonly Item[]): void {
    this.path = path;
    this.arrange();
  }

  /** Unfolds the groups of the items. */
  unfold(items: readonly Item[]): void {
    if (items.every(({ lane }) => this.placement.rowOf(lane) !== undefined)) return;
    for (const { lane } of items) unfold(lane.group, this.folded);
    this.arrange();
  }

  /** Selects an item, unfolds its group, and scrolls to it. */
  mark(item: Item): void {
    this.selected = item;
    this.unfold([item]);
    this.scrollTo(item);
    this.part.mark(item);
  }

  /** Focuses a label, or else the selected item. */
  focus(label?: HTMLElement): void {
    const bar = this.selected && this.part.barOf(this.selected);
    (label ?? bar ?? this.root).focus({ preventScroll: true });
  }

  /** Returns the items in rows that are not folded and that match the search, in the order of their start. */
  get visible(): readonly Item[] {
    const lanes = new Set(this.placement.rows.map(({ lane }) => lane));
    return this.story.items.filter((item) => lanes.has(item.lane) && this.matches?.has(item) !== false);
  }

  private drawVisible(): void {
    this.tracks.insertBefore(this.part.draw(this.root.scrollLeft, this.root.clientWidth), this.line);
  }

  private scrollTo(item: Item): void {
    const row = this.placement.rowOf(item.lane);
    if (row === undefined) return;
    const { root, labels } = this;
    const x = this.placement.spotOf(item)?.x ?? 0;
    const width = root.clientWidth - labels.clientWidth;
    if (x < root.scrollLeft + 20 || x > root.scrollLeft + width - 40) root.scrollLeft = Math.max(0, x - width / 2);
    const isAbove = row.top - AXIS_HEIGHT < root.scrollTop;
    if (isAbove || row.top + row.height > root.scrollTop + root.clientHeight) {
      root.scrollTop = Math.max(0, row.top - root.clientHeight / 2);
    }
    this.drawVisible();
  }
}
