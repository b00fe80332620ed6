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
 * Reads all pages of a list. Stops, with a warning, at too many pages or entries, and at a cursor that is not a string or has
 * come before.
 */
export async function readPages(reading: ListReading): Promise<readonly unknown[]> {
  const { method, field, maxEntries, maxPages, request, warn } = reading;
  const entries: unknown[] = [];
  const cursors = new Set<unknown>();
  let params = {};
  while (cursors.size < maxPages) {
    const { [field]: found, nextCursor } = await request(params);
    if (Array.isArray(found)) entries.push(...found.slice(0, maxEntries + 1));
    else warn(`${method} gave no list of ${field}`);
    if (entries.length > maxEntries) {
      warn(`${method} gave more than ${maxEntries} entries: the rest is left out`);
      return entries.slice(0, maxEntries);
    }
    // The protocol allows an empty cursor, but servers send one on the last page.
    if (nextCursor === undefined || nextCursor === null || nextCursor === '') return entries;
    if (typeof nextCursor !== 'string' || cursors.has(nextCursor)) {
      warn(
        `${method} names the next page ${JSON.stringify(nextCursor)}, which was read or is invalid: reading ends there`,
      );
      return entries;
    }
    cursors.add(nextCursor);
    params = { cursor: nextCursor };
  }
  warn(`${method} has more than ${maxPages} pages: the rest is left out`);
  return entries;
}
