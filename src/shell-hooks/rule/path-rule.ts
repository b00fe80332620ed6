/**
 * Returns a test for paths by the rules of gitignore; undefined if the pattern is invalid. `//` begins an absolute path,
 * and `~/` a path in the home directory.
 */
export function pathTest(specifier: string): ((path: string | undefined, workspaceDir: string) => boolean) | undefined {
  const isAbsolute = specifier.startsWith('//');
  const isHome = specifier.startsWith('~/');
  const pattern = gitignore(absolutePart(specifier));
  const isName = !specifier.replace(/^\.\//, '').includes('/');
  if (pattern === undefined) return undefined;
  return (path, workspaceDir) => {
    if (path === undefined) return true;
    const folder = `${workspaceDir.replace(/\/+$/, '')}/`;
    const whole = normal(path.startsWith('/') || path.startsWith('~') ? path : folder + path);
    if (isAbsolute || isHome) return pattern(whole);
    const inside = whole.startsWith(folder) ? whole.slice(folder.length) : undefined;
    return inside === undefined ? isName && pattern(whole.slice(1)) : pattern(inside);
  };
}

function absolutePart(specifier: string): string {
  if (specifier.startsWith('//')) return specifier.slice(1);
  if (specifier.startsWith('~/')) return `/**/${specifier.slice(2)}`;
  return specifier.replace(/^\.\//, '/');
}

/** Resolves `.` and `..`, so that a detour does not hide a path. */
function normal(path: string): string {
  const kept: string[] = [];
  for (const step of path.split('/')) {
    if (step === '..') kept.pop();
    else if (step !== '.' && step !== '') kept.push(step);
  }
  return `/${kept.join('/')}`;
}

const PIECE = /\*\*\/|\/\*\*$|\*\*|\*|\?|\\[\s\S]|\[[!^]?\]?(?:\[:\w+:\]|\\[\s\S]|[^\]\\])*\]|[\s\S]/g;

/**
 * Compiles a pattern of gitignore to a test for paths. A pattern without `/`, except at its end, matches at any depth.
 * Returns undefined for a pattern that excludes paths (`!`), and for an invalid range such as `[z-a]`, since both match
 * nothing. A path that would take too long to test counts as a match: a hook that runs needlessly is better than one that
 * is skipped.
 */
function gitignore(pattern: string): ((path: string) => boolean) | undefined {
  if (pattern.startsWith('!')) return undefined;
  const isAnchored = pattern.replace(/\/$/, '').includes('/');
  const pieces = pattern.replace(/^\//, '').replace(/\/$/, '').match(PIECE) ?? [];
  try {
    const states = [...(isAnchored ? [] : FOLDERS), ...pieces.flatMap(statesOf)];
    return (path) => {
      if (states.length * path.length > MOST_STEPS) return true;
      return accepts(states, path) || (path.startsWith('/') && accepts(states, path.slice(1)));
    };
  } catch {
    return undefined;
  }
}

/** States of the pattern times characters of the path. A step takes up to 100 ns. */
const MOST_STEPS = 250_000;

/** A state of the matcher. The matcher tracks all possible states at once and never backtracks, so its time is linear. */
interface State {
  /** Returns true if the state takes the character. */
  readonly takes: (character: string) => boolean;
  /** If true, the matcher stays in the state after a character. Otherwise it goes to the next one. */
  readonly stays?: boolean;
  /** Offsets from this state to the states that the matcher also enters, without reading a character. */
  readonly jumps?: readonly number[];
}

const ANY: State = { takes: () => true, stays: true, jumps: [1] };
const SLASH: State = { takes: (character) => character === '/' };
/** Any folders, or none. */
const FOLDERS: readonly State[] = [{ takes: () => false, jumps: [1, 3] }, ANY, SLASH];
const WILDCARDS: Readonly<Record<string, readonly State[]>> = {
  '**/': FOLDERS,
  '/**': [SLASH, ANY],
  '**': [ANY],
  '*': [{ takes: (character) => character !== '/', stays: true, jumps: [1] }],
  '?': [{ takes: (character) => character !== '/' }],
};

function statesOf(piece: string): readonly State[] {
  if (WILDCARDS[piece] !== undefined) return WILDCARDS[piece];
  if (piece.length > 1 && piece.startsWith('[')) {
    const members = new RegExp(classSource(piece));
    return [{ takes: (character) => members.test(character) }];
  }
  const expected = piece.length > 1 ? piece.slice(1) : piece;
  return [{ takes: (character) => character === expected }];
}

/** Returns true if the states match the path, or a folder that contains it. */
function accepts(states: readonly State[], path: string): boolean {
  let current = enter(states, new Set(), 0);
  // A loop over the string itself would join the two halves of a surrogate pair.
  for (let at = 0; at < path.length; at += 1) {
    const character = path.charAt(at);
    if (character === '/' && current.has(states.length)) return true;
    const next = new Set<number>();
    for (const index of current) {
      const { takes, stays = false } = states[index] ?? { takes: () => false };
      if (takes(character)) enter(states, next, stays ? index : index + 1);
    }
    if (next.size === 0) return false;
    current = next;
  }
  return current.has(states.length);
}

/** Adds a state, and the states that the machine may enter from it without a character. */
function enter(states: readonly State[], entered: Set<number>, index: number): Set<number> {
  if (entered.has(index)) return entered;
  entered.add(index);
  for (const distance of states[index]?.jumps ?? []) enter(states, entered, index + distance);
  return entered;
}

/** Translates a character class, such as `[!a-c]` or `[[:digit:]]`. A class never matches `/`. */
function classSource(piece: string): string {
  const isNegated = /^\[[!^]/.test(piece);
  const members = piece.slice(isNegated ? 2 : 1, -1).match(/\[:\w+:\]|\\[\s\S]|[\s\S]/g) ?? [];
  const source = members.map((member) => {
    if (member === '-') return member;
    if (member.startsWith('[:')) return POSIX[member.slice(2, -2)] ?? '';
    return escaped(member.length > 1 ? member.slice(1) : member);
  });
  return `^(?!/)[${isNegated ? '^' : ''}${source.join('')}]$`;
}

/** Escapes the special characters of a regular expression. */
function escaped(text: string): string {
  return text.replace(/[-.*+?^${}()|[\]\\]/g, '\\$&');
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: 'a-zA-Z0-9',
  alpha: 'a-zA-Z',
  blank: ' \\t',
  cntrl: '\\0-\\x1f\\x7f',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\s',
  upper: 'A-Z',
  xdigit: '0-9a-fA-F',
};
