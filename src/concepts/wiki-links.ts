/**
 * Adds the concepts that a text links to as `[[name]]`, trimmed. Finds what `/\[\[([^\]]+)\]\]/g` finds, in one pass:
 * that expression takes quadratic time on many open brackets.
 */
function addLinks(text: string, found: Set<string>): void {
  let at = text.indexOf('[[');
  while (at >= 0) {
    const close = text.indexOf(']', at + 2);
    if (close < 0) return;
    const isLink = close > at + 2 && text.charCodeAt(close + 1) === CLOSE;
    if (isLink) found.add(text.slice(at + 2, close).trim());
    // No link begins before this bracket any more: whatever is open there ends at the same one.
    at = text.indexOf('[[', isLink ? close + 2 : close + 1);
  }
}

const CLOSE = 93;

/** Every text in a value, depth first and in order. Property names are none. Holds for cycles and for any depth. */
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

/** Whether there is any text in a value. */
export function hasText(value: unknown): boolean {
  return textsIn(value).next().done !== true;
}

/**
 * The concepts that the texts in a value link to: each once, in the order in which they come first.
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
