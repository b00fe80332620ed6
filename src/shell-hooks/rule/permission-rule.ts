import { isObject } from '../../internal/json.js';
import { starTest } from '../../internal/star-pattern.js';
import { compileGlob } from '../../process/files/glob.js';
import { commandTest } from './command-rule.js';

/** A tool call that a rule is tested with. */
interface RuleCall {
  /** The names of the tool: its own, and the name in the program for which the rule was written, such as `Bash`. */
  readonly names: readonly string[];
  readonly args: unknown;
  readonly workspaceDir: string;
}

/** A permission rule of Claude Code, such as `Bash(git push *)` or `Edit(*.ts)`. */
export type PermissionRule = (call: RuleCall) => boolean;

const RULE = /^([\w*.-]+)(?:\(([\s\S]*)\))?$/;
/** Maps a tool name in a rule to all the tools that the rule covers. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  Edit: ['Edit', 'Write', 'MultiEdit', 'NotebookEdit'],
  Read: ['Read', 'Grep', 'Glob'],
};
const FILE_TOOLS = ['Edit', 'Write', 'MultiEdit', 'NotebookEdit', 'Read', 'Grep', 'Glob'];
/** Compiles a rule. Returns undefined if the rule is invalid, or if the text consists of several rules. */
export function compilePermissionRule(text: string): PermissionRule | undefined {
  const [, tool, specifier] = RULE.exec(text.trim()) ?? [];
  if (tool === undefined || closesEarly(specifier ?? '')) return undefined;
  const isTool = toolTest(tool);
  const isCovered =
    specifier === undefined || specifier === '' || specifier === '*' ? () => true : argumentTest(tool, specifier);
  return isCovered && ((call) => call.names.some(isTool) && isCovered(call));
}

/**
 * Returns true if a specifier closes a parenthesis that it has not opened. The string `Bash(a)|Bash(b)` contains two
 * rules, and has such a specifier: `a)|Bash(b`.
 */
function closesEarly(specifier: string): boolean {
  let open = 0;
  for (const [piece] of specifier.matchAll(/\\[\s\S]|[()]/g)) {
    if (piece === '(') open += 1;
    if (piece === ')') open -= 1;
    if (open < 0) return true;
  }
  return false;
}

function toolTest(tool: string): (name: string) => boolean {
  const names = FAMILIES[tool] ?? [tool];
  const tests = names.map(starTest);
  // `mcp__server` covers all tools of the server.
  const server = /^mcp__[^*]+$/.test(tool) && tool.split('__').length === 2 ? `${tool}__` : undefined;
  return (name) => tests.some((test) => test(name)) || (server !== undefined && name.startsWith(server));
}

/**
 * Returns undefined if the specifier is invalid. A call whose arguments cannot be read matches, because a skipped guard
 * is worse than an unnecessary run.
 */
function argumentTest(tool: string, specifier: string): ((call: RuleCall) => boolean) | undefined {
  if (tool === 'Bash') {
    const isCovered = commandTest(specifier);
    return ({ args }) => isCovered(textAt(args, ['command', 'cmd']));
  }
  if (FILE_TOOLS.includes(tool)) {
    const isCovered = pathTest(specifier);
    const paths = ['file_path', 'notebook_path', 'path'];
    return isCovered && (({ args, workspaceDir }) => isCovered(textAt(args, paths), workspaceDir));
  }
  if (tool === 'WebFetch') return ({ args }) => hostMatches(specifier, textAt(args, ['url']));
  const fits = starTest(specifier);
  const subjects = ['subagent_type', 'skill', 'command', 'query'];
  return ({ args }) => {
    const subject = textAt(args, subjects);
    return subject === undefined || fits(subject);
  };
}

function textAt(args: unknown, names: readonly string[]): string | undefined {
  const fields = isObject(args) ? args : {};
  const found = names.map((name) => fields[name]).find((value) => typeof value === 'string');
  return found as string | undefined;
}

function hostMatches(specifier: string, url: string | undefined): boolean {
  if (url === undefined || !specifier.startsWith('domain:')) return true;
  if (!URL.canParse(url)) return true;
  return starTest(specifier.slice('domain:'.length).toLowerCase())(new URL(url).hostname);
}

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
