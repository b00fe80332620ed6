import { escaped } from './glob.js';

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
    if (isAbsolute || isHome) return pattern.test(whole);
    const inside = whole.startsWith(folder) ? whole.slice(folder.length) : undefined;
    return inside === undefined ? isName && pattern.test(whole.slice(1)) : pattern.test(inside);
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
 * Compiles a pattern of gitignore. A pattern without `/`, except at its end, matches at any depth. Returns undefined for
 * a pattern that excludes paths (`!`), and for an invalid range such as `[z-a]`, since both match nothing.
 */
function gitignore(pattern: string): RegExp | undefined {
  if (pattern.startsWith('!')) return undefined;
  const isAnchored = pattern.replace(/\/$/, '').includes('/');
  const pieces = pattern.replace(/^\//, '').match(PIECE) ?? [];
  const source = pieces.map(pieceSource).join('');
  try {
    return new RegExp(`^/?${isAnchored ? '' : '(?:.*/)?'}${source.replace(/\/$/, '')}(?:/.*)?$`, 's');
  } catch {
    return undefined;
  }
}

function pieceSource(piece: string): string {
  if (WILDCARDS[piece] !== undefined) return WILDCARDS[piece];
  if (piece.length > 1 && piece.startsWith('[')) return classSource(piece);
  return escaped(piece.length > 1 ? piece.slice(1) : piece);
}

const WILDCARDS: Readonly<Record<string, string>> = {
  '**/': '(?:.*/)?',
  '/**': '/.*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};

/** Translates a character class, such as `[!a-c]` or `[[:digit:]]`. A class never matches `/`. */
function classSource(piece: string): string {
  const isNegated = /^\[[!^]/.test(piece);
  const members = piece.slice(isNegated ? 2 : 1, -1).match(/\[:\w+:\]|\\[\s\S]|[\s\S]/g) ?? [];
  const source = members.map((member) => {
    if (member === '-') return member;
    if (member.startsWith('[:')) return POSIX[member.slice(2, -2)] ?? '';
    return escaped(member.length > 1 ? member.slice(1) : member);
  });
  return `(?!/)[${isNegated ? '^' : ''}${source.join('')}]`;
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
