interface Sequence<P, I> {
  readonly pattern: readonly P[];
  readonly items: readonly I[];
  readonly isStar: (step: P) => boolean;
  readonly fits: (step: P, item: I) => boolean;
}

/**
 * True if a path matches a pattern. `*` and `?` match within a name; `**` matches any directories. Never backtracks
 * exponentially.
 */
export function matchesPattern(path: string, pattern: readonly string[]): boolean {
  return matches({
    pattern,
    items: path.split('/'),
    isStar: (step) => step === '**',
    fits: (step, name) =>
      matches({
        pattern: [...step],
        items: [...name],
        isStar: (character) => character === '*',
        fits: (character, wanted) => character === '?' || character === wanted,
      }),
  });
}

/** On a mismatch, only the last star takes one more item. Trying an earlier star again cannot help. */
function matches<P, I>({ pattern, items, isStar, fits }: Sequence<P, I>): boolean {
  let at = 0;
  let star = -1;
  let taken = 0;
  for (let item = 0; item < items.length; ) {
    const step = pattern[at];
    if (at < pattern.length && isStar(step as P)) {
      star = at;
      taken = item;
      at += 1;
    } else if (at < pattern.length && fits(step as P, items[item] as I)) {
      at += 1;
      item += 1;
    } else if (star >= 0) {
      taken += 1;
      item = taken;
      at = star + 1;
    } else return false;
  }
  return pattern.slice(at).every(isStar);
}
