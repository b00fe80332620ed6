import type { Item, Story } from '../story/story.js';

/** The filters for the items of the timeline, with their labels. */
export const FILTERS = {
  all: 'All',
  problems: 'Problems',
  decisions: 'Decisions',
  model: 'Models',
  tool: 'Tools',
} as const;

/** The name of a filter. */
export type Filter = keyof typeof FILTERS;

/** Maximum number of characters of a record that are searched. */
const SEARCHED = 50_000;

/** Finds items whose records contain a text. Converts each record to lower-case text only once. */
export class Search {
  private readonly texts: string[];

  /** `earlier` is the search of a shorter version of the same trace. Its texts are reused. */
  constructor(
    private readonly story: Story,
    earlier?: Search,
  ) {
    this.texts = earlier?.texts ?? [];
  }

  /** Converts all records to text in advance, so that the first search is fast. */
  prepare(): void {
    for (const index of this.story.records.keys()) this.textAt(index);
  }

  /** Returns the items that match a lower-case text and a filter. Returns undefined if all items match. */
  find(query: string, filter: Filter): ReadonlySet<Item> | undefined {
    if (query === '' && filter === 'all') return undefined;
    const matches = this.itemsWith(query);
    const isFound = (item: Item) => matches.has(item) || item.title.toLowerCase().includes(query);
    return new Set(this.story.items.filter((item) => fits(item, filter) && isFound(item)));
  }

  /**
   * Returns the items with a record that contains the text. A record belongs to its item and to its turn. Before the
   * first turn, it belongs to the first item of its run.
   */
  private itemsWith(query: string): ReadonlySet<Item | undefined> {
    const { records, items, itemOf } = this.story;
    const turns = new Map<string, Item>();
    const found = new Set<Item | undefined>();
    records.forEach(({ runId }, index) => {
      const item = itemOf.get(index);
      if (item?.kind === 'turn') turns.set(runId, item);
      if (!this.textAt(index).includes(query)) return;
      found.add(turns.get(runId) ?? items.find((one) => one.runId === runId));
      // Skips an item that is drawn from an earlier record.
      if (item?.from !== index || item.id === index) found.add(item);
    });
    return found;
  }

  private textAt(index: number): string {
    this.texts[index] ??= (JSON.stringify(this.story.records[index]) ?? '').slice(0, SEARCHED).toLowerCase();
    return this.texts[index];
  }
}

function fits({ kind, mark }: Item, filter: Filter): boolean {
  if (filter === 'all') return true;
  if (filter === 'problems') return mark === 'failed' || mark === 'denied' || (kind === 'event' && mark !== 'note');
  return filter === 'decisions' ? kind === 'decision' : kind === filter;
}
