import { isObject } from '../../internal/json.js';

/** The `exports` of a package.json as an object of subpaths, such as `.` and `./guard`. */
type Subpaths = Readonly<Record<string, unknown>>;

/** The conditions in `exports` that apply. Others that Node knows, such as `module-sync`, are skipped. */
const CONDITIONS: ReadonlySet<string> = new Set(['node', 'import', 'default']);

/**
 * Returns the relative path that a package's `exports` map a subpath to. Follows the rules of Node: exact names first,
 * then the pattern with the longest prefix. Null or undefined if the subpath is not exported.
 */
export function exportedPath(exports: unknown, subpath: string): Target {
  const subpaths = subpathsOf(exports);
  if (Object.hasOwn(subpaths, subpath) && !subpath.includes('*')) return targetPath(subpaths[subpath], '');
  for (const pattern of Object.keys(subpaths).filter(isPattern).sort(bySpecificity)) {
    const [start = '', end = ''] = pattern.split('*');
    const isMatch = subpath !== start && subpath.startsWith(start) && subpath.endsWith(end);
    if (!isMatch || subpath.length < pattern.length) continue;
    return targetPath(subpaths[pattern], subpath.slice(start.length, subpath.length - end.length));
  }
  return undefined;
}

function subpathsOf(exports: unknown): Subpaths {
  const isMap = isObject(exports) && Object.keys(exports).some((key) => key.startsWith('.'));
  return isMap ? exports : { '.': exports };
}

function isPattern(key: string): boolean {
  return key.split('*').length === 2;
}

function bySpecificity(a: string, b: string): number {
  return b.indexOf('*') - a.indexOf('*') || b.length - a.length;
}

/** Null ends the search: the package excludes the subpath, or the target lies outside the package. */
type Target = string | null | undefined;

function targetPath(target: unknown, match: string): Target {
  if (typeof target === 'string') return isTarget(target, match) ? target.replaceAll('*', () => match) : null;
  if (Array.isArray(target)) return target.map((each) => targetPath(each, match)).find((path) => path != null);
  if (!isObject(target)) return target === null ? null : undefined;
  for (const [condition, value] of Object.entries(target)) {
    const path = CONDITIONS.has(condition) ? targetPath(value, match) : undefined;
    if (path !== undefined) return path;
  }
  return undefined;
}

/** True if a target stays in its package: it begins with `./` and contains no `.`, `..` or `node_modules` segment. */
function isTarget(target: string, match: string): boolean {
  const segments = [...target.slice(2).split(/[\\/]/), ...match.split(/[\\/]/)];
  return target.startsWith('./') && !segments.some((segment) => /^(?:\.{1,2}|node_modules)$/i.test(decoded(segment)));
}

function decoded(segment: string): string {
  return segment.replace(/%2e/gi, '.');
}
