/**
 * Adds the trimmed names that a string links to as `[[name]]`. Finds what `/\[\[([^\]]+)\]\]/g` would find, in linear
 * time: the expression takes quadratic time on many open brackets.
 */
function addLinks(text: string, found: Set<string>): void {
  let open = -1;
  for (let close = text.indexOf(']]'); close >= 0; close = text.indexOf(']]', close + 2)) {
    // A name cannot contain `]`, so the `[[` of a link comes after the last `]` before its end.
    const start = text.lastIndexOf(']', close - 1) + 1;
    if (open < start) open = text.indexOf('[[', start);
    if (open < 0) return;
    if (open + 2 < close) found.add(text.slice(open + 2, close).trim());
  }
}

/** Yields every string in a value, depth first and in order. Skips property names. Handles cycles and any depth. */
function* textsIn(value: unknown): Generator<string> {
  const seen = new Set<object>();
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') yield next;
    if (typeof next !== 'object' || next === null || seen.has(next) || ArrayBuffer.isView(next)) continue;
    seen.add(next);
    const inner = Object.values(next);
    for (let i = inner.length - 1; i >= 0; i--) open.push(inner[i]);
  }
}

/** True if a value contains a string. */
export function hasText(value: unknown): boolean {
  return textsIn(value).next().done !== true;
}

/**
 * Returns the concepts that the strings in a value link to, without duplicates, in the order of the first links.
 *
 * @example
 * conceptsIn({ prompt: 'Compare [[tides]] with [[wind]].' }); // ['tides', 'wind']
 */
export function conceptsIn(value: unknown): string[] {
  const found = new Set<string>();
  for (const text of textsIn(value)) addLinks(text, found);
  found.delete('');
  return [...found];
}
