import { gitignore } from './path-pattern.js';

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
