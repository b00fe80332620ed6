import { compileGlob } from '../../process/files/glob.js';

/**
 * Returns a test for paths by the rules of gitignore; undefined if the pattern is invalid. `//` begins an absolute path,
 * and `~/` a path in the home directory.
 */
export function pathTest(specifier: string): ((path: string | undefined, workspaceDir: string) => boolean) | undefined {
  const isAbsolute = specifier.startsWith('//');
  const isHome = specifier.startsWith('~/');
  const matches = gitignore(absolutePart(specifier));
  const isName = !specifier.replace(/^\.\//, '').includes('/');
  if (matches === undefined) return undefined;
  return (path, workspaceDir) => {
    if (path === undefined) return true;
    const folder = `${workspaceDir.replace(/\/+$/, '')}/`;
    const whole = normal(path.startsWith('/') || path.startsWith('~') ? path : folder + path);
    if (isAbsolute || isHome) return matches(whole.slice(1));
    const inside = whole.startsWith(folder) ? whole.slice(folder.length) : undefined;
    return inside === undefined ? isName && matches(whole.slice(1)) : matches(inside);
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

/**
 * Compiles a pattern of gitignore to a test for paths without a leading slash. The test accepts a match and everything
 * inside it. A pattern without `/`, except at its end, matches at any depth. Returns undefined for a pattern that
 * excludes paths (`!`), and for an invalid range such as `[z-a]`, since both match nothing.
 */
function gitignore(pattern: string): ((path: string) => boolean) | undefined {
  if (pattern.startsWith('!')) return undefined;
  const isAnchored = pattern.replace(/\/$/, '').includes('/');
  // `a/**` matches only what is inside of `a`.
  const inner = pattern.replace(/^\/|\/$/g, '').replace(/\/\*\*$/, '/*');
  try {
    return compileGlob(`${isAnchored ? '' : '**/'}${inner}/**`);
  } catch {
    return undefined;
  }
}
