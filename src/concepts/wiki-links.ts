/**
 * Adds the trimmed names that a string links to as `[[name]]`.
 * Equivalent to `/\[\[([^\]]+)\]\]/g` in one pass; the expression takes quadratic time on many open brackets.
 */
function addLinks(text: string, found: Set<string>): void {
  let at = text.indexOf('[[');
  while (at >= 0) {
    const close = text.indexOf(']', at + 2);
    if (close < 0) return;
    const isLink = close > at + 2 && text.charCodeAt(close + 1) === CLOSE;
    if (isLink) found.add(text.slice(at + 2, close).trim());
    // No link can begin before this bracket, since any open link would end here too.
    at = text.indexOf('[[', isLink ? close + 2 : close + 1);
  }
}

const CLOSE = 93;

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
