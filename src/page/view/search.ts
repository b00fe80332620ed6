import type { Item, Story } from '../story/story.js';

/** The kinds of items that a person can choose. */
export const FILTERS = {
  all: 'All',
  problems: 'Problems',
  decisions: 'Decisions',
  model: 'Models',
  tool: 'Tools',
} as const;

/** The name of a filter. */
export type Filter = keyof typeof FILTERS;

/** Only this many characters of a record are searched. */
const SEARCHED = 50_000;

/** Finds items by the words of their records. Prepares each record once. */
export class Search {
  private readonly texts: string[];

  /** `earlier` has already prepared the beginning of the same trace. */
  constructor(
    private readonly story: Story,
    earlier?: Search,
  ) {
    this.texts = earlier?.texts ?? [];
  }

  /** Prepares all texts in advance, so that the first search is fast. */
  prepare(): void {
    for (const index of this.story.records.keys()) this.textAt(index);
  }

  /** Returns the items that match. Returns undefined if all items match. */
  find(query: string, filter: Filter): ReadonlySet<Item> | undefined {
    if (query === '' && filter === 'all') return undefined;
    const matches = this.itemsWith(query);
    const isFound = (item: Item) => matches.has(item) || item.title.toLowerCase().includes(query);
    return new Set(this.story.items.filter((item) => fits(item, filter) && isFound(item)));
  }

  /**
   * Returns the items whose records contain the words. A record belongs to its item and to its turn, or, before the
   * first turn, to the first item of its run.
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
