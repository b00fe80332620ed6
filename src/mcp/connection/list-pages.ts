/** One request for a page of a list. */
type PageRequest = (params: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, unknown>>>;

/** What a list is read with. */
export interface ListReading {
  /** Such as `tools/list`. */
  readonly method: string;
  /** The field of the answer that holds the entries. */
  readonly field: string;
  readonly maxEntries: number;
  readonly maxPages: number;
  readonly request: PageRequest;
  readonly warn: (problem: string) => void;
}

/**
 * All pages of a list. Reading ends, with a warning, where there are too many pages or entries, and where a server names
 * a page that it has named before.
 */
export async function readPages(reading: ListReading): Promise<readonly unknown[]> {
  const { method, field, maxEntries, maxPages, request, warn } = reading;
  const entries: unknown[] = [];
  const cursors = new Set<string>();
  let params = {};
  for (let page = 1; page <= maxPages; page++) {
    const { [field]: found, nextCursor } = await request(params);
    if (Array.isArray(found)) entries.push(...found.slice(0, maxEntries + 1));
    else warn(`${method} gave no list of ${field}`);
    if (entries.length > maxEntries) {
      warn(`${method} gave more than ${maxEntries} entries: the rest is left out`);
      return entries.slice(0, maxEntries);
    }
    // An empty cursor is one by the letter, but servers mean by it that there is none.
    if (nextCursor === undefined || nextCursor === null || nextCursor === '') return entries;
    if (typeof nextCursor !== 'string') {
      warn(`${method} names its next page by no text: the rest is left out`);
      return entries;
    }
    if (cursors.has(nextCursor)) {
      warn(`${method} names the same page again: reading ends there`);
      return entries;
    }
    cursors.add(nextCursor);
    params = { cursor: nextCursor };
  }
  warn(`${method} has more than ${maxPages} pages: the rest is left out`);
  return entries;
}
