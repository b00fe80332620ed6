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

/** Longer records are searched up to here. */
const SEARCHED = 50_000;

/** Finds items by words. Prepares each text once. */
export class Search {
  private readonly texts = new Map<Item, string>();

  constructor(private readonly story: Story) {}

  /** Prepares all texts, so that the first search is as fast as the others. */
  prepare(): void {
    for (const item of this.story.items) this.textOf(item);
  }

  /** Returns the items that match, or undefined for all. */
  find(query: string, filter: Filter): ReadonlySet<Item> | undefined {
    if (query === '' && filter === 'all') return undefined;
    const isFound = (item: Item) => fits(item, filter) && (query === '' || this.textOf(item).includes(query));
    return new Set(this.story.items.filter(isFound));
  }

  private textOf(item: Item): string {
    const known = this.texts.get(item);
    if (known !== undefined) return known;
    const { records } = this.story;
    const parts = [item.from, item.to].map((index) => (JSON.stringify(records[index]) ?? '').slice(0, SEARCHED));
    const text = `${item.title}\n${parts.join('\n')}`.toLowerCase();
    this.texts.set(item, text);
    return text;
  }
}

function fits({ kind, mark }: Item, filter: Filter): boolean {
  if (filter === 'all') return true;
  if (filter === 'problems') return mark === 'failed' || mark === 'denied' || kind === 'event';
  return filter === 'decisions' ? kind === 'decision' : kind === filter;
}
