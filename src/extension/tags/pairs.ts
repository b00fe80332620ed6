import type { TagToken } from './scanner.js';

/**
 * The tags that make whole sections, in order: empty ones, and opening ones with their closing ones. A tag that nothing
 * closes or opens is left out, and so are both pairs where two overlap without one being inside the other.
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

/** For each tag the one that it belongs to: a closing tag takes the last opening one of its name that is still open. */
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
 * Takes a section off the list of open ones. Whatever was opened in it and is still open overlaps it: then neither
 * counts. The list is in ascending order, so what is not at its end any more is found gone at once.
 */
function close(open: number[], opening: number): boolean {
  if (open.at(-1) === opening) return open.pop() !== undefined;
  while ((open.at(-1) ?? -1) >= opening) open.pop();
  return false;
}
