/** Requests one page of a list. */
type PageRequest = (params: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, unknown>>>;

/** Options of `readPages`. */
export interface ListReading {
  /** The method of the request, such as `tools/list`. */
  readonly method: string;
  /** The field of the result that holds the entries. */
  readonly field: string;
  readonly maxEntries: number;
  readonly maxPages: number;
  /** Most characters of all entries as JSON. */
  readonly maxSize: number;
  readonly request: PageRequest;
  readonly warn: (problem: string) => void;
}

/**
 * Reads all pages of a list. Stops with a warning after too many pages or entries. Also stops at a cursor that is not a
 * string or was used before.
 */
export async function readPages(reading: ListReading): Promise<readonly unknown[]> {
  const { method, field, maxEntries, maxPages, maxSize, request, warn } = reading;
  const entries: unknown[] = [];
  const cursors = new Set<unknown>();
  let size = 0;
  let params = {};
  while (cursors.size < maxPages) {
    const { [field]: found, nextCursor } = await request(params);
    if (Array.isArray(found)) for (const entry of found.slice(0, maxEntries + 1)) entries.push(entry);
    else warn(`the result of ${method} must have an array \`${field}\`; this page is ignored`);
    if (entries.length > maxEntries) {
      warn(`${method} returned more than ${maxEntries} entries; the rest is ignored (see \`limits.tools\`)`);
      return entries.slice(0, maxEntries);
    }
    if (Array.isArray(found)) size += JSON.stringify(found).length;
    if (Array.isArray(found) && size > maxSize) {
      warn(`${method} returned entries of more than ${maxSize} characters; this page and the rest are ignored`);
      return entries.slice(0, entries.length - found.length);
    }
    if (nextCursor === undefined) return entries;
    if (typeof nextCursor !== 'string' || cursors.has(nextCursor)) {
      warn(
        `${method} returned the cursor ${JSON.stringify(nextCursor)}, which is invalid or was used before; reading stops`,
      );
      return entries;
    }
    cursors.add(nextCursor);
    params = { cursor: nextCursor };
  }
  warn(`${method} has more than ${maxPages} pages; the rest is ignored (see \`limits.pages\`)`);
  return entries;
}
