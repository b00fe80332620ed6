import { isObject } from '../../internal/json.js';
import { starTest } from '../../internal/star-pattern.js';
import { commandTest } from './command-rule.js';
import { pathTest } from './path-rule.js';

/** A tool call that a rule is tested with. */
interface RuleCall {
  /** The names of the tool: its own, and its name in the program of the rule. */
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
