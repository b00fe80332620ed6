import type { TagToken } from './scanner.js';

/**
 * Returns the tags of complete sections in order: empty tags, and matching pairs of an opening and a closing tag.
 * Unmatched tags are left out. If two pairs overlap without nesting, both are left out.
 */
export function pairTags(tokens: readonly TagToken[]): TagToken[] {
  const partners = partnersOf(tokens);
  const open: number[] = [];
  const whole = new Set<number>();
  for (const [index, { kind }] of tokens.entries()) {
    if (kind === 'empty') whole.add(index);
    const partner = partners.get(index);
    if (partner === undefined) continue;
    if (kind === 'open') open.push(index);
    else if (close(open, partner)) whole.add(partner).add(index);
  }
  return tokens.filter((_token, index) => whole.has(index));
}

/** Maps the index of each tag to its partner. A closing tag matches the last open tag of the same name. */
function partnersOf(tokens: readonly TagToken[]): Map<number, number> {
  const started = new Map<string, number[]>();
  const partners = new Map<number, number>();
  for (const [index, { kind, name }] of tokens.entries()) {
    const open = started.get(name);
    if (kind === 'open') {
      if (open === undefined) started.set(name, [index]);
      else open.push(index);
    }
    const partner = kind === 'close' ? open?.pop() : undefined;
    if (partner !== undefined) partners.set(index, partner).set(partner, index);
  }
  return partners;
}

/**
 * Removes a section from the list of open sections, by the index of its opening tag. Returns false if the section
 * overlaps another one, and removes the overlapping sections too.
 */
function close(open: number[], opening: number): boolean {
  if (open.at(-1) === opening) return open.pop() !== undefined;
  while ((open.at(-1) ?? -1) >= opening) open.pop();
  return false;
}
