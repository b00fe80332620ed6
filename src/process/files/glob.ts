/** A piece of a pattern that matches any number of items: folders in a path, or characters in a name. */
const ANY = '*';
/** A test of one character of a name. */
type Piece = (character: string) => boolean;
/** The pieces of one name. */
type Name = readonly (Piece | typeof ANY)[];

/**
 * Returns a test for whole paths. `*` and `?` match within a name, `**` matches any folders or none, `[a-z]` and
 * `[!a-z]` match a character, and a backslash makes the next character literal. Throws a SyntaxError for an invalid
 * range such as `[z-a]`.
 *
 * A path that takes too long to test counts as a match, because every caller guards files with the pattern.
 */
export function compileGlob(pattern: string): (path: string) => boolean {
  const steps = stepsOf(pattern.match(PIECE) ?? []);
  const size = steps.reduce((sum, step) => sum + step.length, 1);
  return (path) => {
    if (size * path.length > MOST_STEPS) return true;
    const names = path.split('/').map((name) => [...name]);
    return matches(steps, names, (step, name) => matches(step, name, (piece, character) => piece(character)));
  };
}

/** The most comparisons for one path: pieces of the pattern times characters of the path. They take up to 25 ms. */
const MOST_STEPS = 250_000;

const PIECE = /\\[\s\S]|\[[!^]?\]?(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/gu;

/** Divides the pieces of a pattern at its slashes. */
function stepsOf(pieces: readonly string[]): readonly (Name | typeof ANY)[] {
  const names: string[][] = [[]];
  for (const piece of pieces) {
    if (piece === '/') names.push([]);
    else names.at(-1)?.push(piece);
  }
  return names.map((name) => (name.join('') === '**' ? ANY : name.map(pieceOf)));
}

function pieceOf(piece: string): Piece | typeof ANY {
  if (piece === '*') return ANY;
  if (piece === '?') return () => true;
  if (piece.length > 2 && piece.startsWith('[')) {
    const members = new RegExp(classSource(piece), 'u');
    return (character) => members.test(character);
  }
  const expected = piece.startsWith('\\') && piece.length > 1 ? piece.slice(1) : piece;
  return (character) => character === expected;
}

/**
 * Returns true if the items match. On a mismatch, the last star takes one more item. An earlier star need not take
 * more, because that cannot lead to another match.
 */
function matches<P, I>(
  pattern: readonly (P | typeof ANY)[],
  items: readonly I[],
  fits: (step: P, item: I) => boolean,
): boolean {
  let at = 0;
  let star = -1;
  let taken = 0;
  for (let item = 0; item < items.length; ) {
    const step = pattern[at];
    if (step === ANY) {
      star = at;
      taken = item;
      at += 1;
    } else if (step !== undefined && fits(step, items[item] as I)) {
      at += 1;
      item += 1;
    } else if (star >= 0) {
      taken += 1;
      item = taken;
      at = star + 1;
    } else return false;
  }
  return pattern.slice(at).every((step) => step === ANY);
}

/** Translates a character class, such as `[!a-c]`. */
function classSource(piece: string): string {
  const isNegated = /^\[[!^]/.test(piece);
  const members = piece.slice(isNegated ? 2 : 1, -1).match(/\\[\s\S]|[\s\S]/gu) ?? [];
  const source = members.map((member) => {
    const character = member.startsWith('\\') && member.length > 1 ? member.slice(1) : member;
    return member === '-' ? member : character.replace(/[-.*+?^${}()|[\]\\/]/g, '\\$&');
  });
  return `^[${isNegated ? '^' : ''}${source.join('')}]$`;
}
