import { isObject } from '../../internal/json.js';

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
/** A rule for one of these tools covers the tools of its list. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  Edit: ['Edit', 'Write', 'MultiEdit', 'NotebookEdit'],
  Read: ['Read', 'Grep', 'Glob'],
};
const FILE_TOOLS = ['Edit', 'Write', 'MultiEdit', 'NotebookEdit', 'Read', 'Grep', 'Glob'];
/** Arguments whose meaning a shell decides. A command with one of these tokens can contain any other command. */
const UNREADABLE = /[`]|\$\(|<\(|>\(|\beval\b|\b(?:ba|z|da)?sh\s+-\w*c\b|\bxargs\b/;

/** Assignments and words before the command that runs, such as `sudo`. */
const WRAPPERS =
  /^(?:(?:then|do|else|!|time|nohup|sudo|doas|command|exec|env|nice|stdbuf|setsid|timeout(?:\s+[\d.]+[smhd]?)?)\s+|\w+=(?:"[^"]*"|'[^']*'|\S*)\s+)+/;
/** A variable in place of a command, or a shell that reads commands from its input. */
const HIDDEN = /^\$|^(?:\S*\/)?(?:ba|z|da|k)?sh(?:\s+-\S*)*$/;

/** Compiles a rule. Returns undefined if the rule is invalid. */
export function compilePermissionRule(text: string): PermissionRule | undefined {
  const [, tool, specifier] = RULE.exec(text.trim()) ?? [];
  if (tool === undefined) return undefined;
  const isTool = toolTest(tool);
  const isCovered =
    specifier === undefined || specifier === '' || specifier === '*' ? () => true : argumentTest(tool, specifier);
  return (call) => call.names.some(isTool) && isCovered(call);
}

function toolTest(tool: string): (name: string) => boolean {
  const names = FAMILIES[tool] ?? [tool];
  const patterns = names.map((name) => glob(name));
  // `mcp__server` covers all tools of the server.
  const server = /^mcp__[^*]+$/.test(tool) && tool.split('__').length === 2 ? `${tool}__` : undefined;
  return (name) => patterns.some((pattern) => pattern.test(name)) || (server !== undefined && name.startsWith(server));
}

/** A call whose arguments cannot be read matches, because a skipped guard is worse than an unnecessary run. */
function argumentTest(tool: string, specifier: string): (call: RuleCall) => boolean {
  if (tool === 'Bash') return ({ args }) => commandMatches(specifier, textAt(args, ['command', 'cmd']));
  if (FILE_TOOLS.includes(tool)) {
    const paths = ['file_path', 'notebook_path', 'path'];
    return ({ args, workspaceDir }) => pathMatches(specifier, textAt(args, paths), workspaceDir);
  }
  if (tool === 'WebFetch') return ({ args }) => hostMatches(specifier, textAt(args, ['url']));
  const pattern = glob(specifier);
  const subjects = ['subagent_type', 'skill', 'command', 'query'];
  return ({ args }) => {
    const subject = textAt(args, subjects);
    return subject === undefined || pattern.test(subject);
  };
}

function textAt(args: unknown, names: readonly string[]): string | undefined {
  const fields = isObject(args) ? args : {};
  const found = names.map((name) => fields[name]).find((value) => typeof value === 'string');
  return found as string | undefined;
}

/** Tests each command of a compound command. */
function commandMatches(specifier: string, command: string | undefined): boolean {
  if (command === undefined || UNREADABLE.test(command)) return true;
  const rule = commandPattern(specifier);
  const parts = command.split(/&&|\|\||[;|&\n(){}]/).map((part) => part.trim());
  if (parts.some(hidesCommand)) return true;
  const commands = parts.map(plainCommand).flatMap((plain) => [plain, plain.replace(/^\S*\//, '')]);
  return [command.trim(), ...commands].some((part) => part !== '' && rule.test(part));
}

/** `git *` and `git:*` match `git` and `git push`, but not `github`. */
function commandPattern(specifier: string): RegExp {
  const [, start] = /^([\s\S]*?)(?::\*| \*)$/.exec(specifier) ?? [];
  return start === undefined ? glob(specifier) : new RegExp(`^${globSource(start)}(?:\\s[\\s\\S]*)?$`);
}

/** Returns true if a part runs a command that is not at its beginning, such as after `sudo -u root`. */
function hidesCommand(part: string): boolean {
  const isWrapped = WRAPPERS.test(part);
  return (isWrapped && part.replace(WRAPPERS, '').startsWith('-')) || HIDDEN.test(plainCommand(part));
}

/** Removes assignments, quotes and wrappers, which do not change the command that runs. */
function plainCommand(part: string): string {
  return part
    .replace(WRAPPERS, '')
    .replaceAll(/["'\\]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Tests a path by the rules of gitignore. `//` begins an absolute path, and `~/` a path in the home directory. */
function pathMatches(specifier: string, path: string | undefined, workspaceDir: string): boolean {
  if (path === undefined) return true;
  const folder = `${workspaceDir.replace(/\/+$/, '')}/`;
  const whole = normal(path.startsWith('/') || path.startsWith('~') ? path : folder + path);
  if (specifier.startsWith('//')) return gitignore(specifier.slice(1)).test(whole);
  if (specifier.startsWith('~/')) return gitignore(`/**/${specifier.slice(2)}`).test(whole);
  const inside = whole.startsWith(folder) ? whole.slice(folder.length) : undefined;
  if (inside === undefined)
    return !specifier.replace(/^\.\//, '').includes('/') && gitignore(specifier).test(whole.slice(1));
  return gitignore(specifier.replace(/^\.\//, '/')).test(inside);
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

/** A pattern without `/`, except at its end, matches at any depth. */
function gitignore(pattern: string): RegExp {
  const isAnchored = pattern.replace(/\/$/, '').includes('/');
  const source = pattern
    .replace(/^\//, '')
    .split(/(\*\*\/|\/\*\*$|\*\*|\*|\?)/)
    .map((piece) => WILDCARDS[piece] ?? escaped(piece))
    .join('');
  return new RegExp(`^/?${isAnchored ? '' : '(?:.*/)?'}${source.replace(/\/$/, '')}(?:/.*)?$`, 's');
}

const WILDCARDS: Readonly<Record<string, string>> = {
  '**/': '(?:.*/)?',
  '/**': '/.*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};

function hostMatches(specifier: string, url: string | undefined): boolean {
  if (url === undefined || !specifier.startsWith('domain:')) return true;
  if (!URL.canParse(url)) return true;
  return glob(specifier.slice('domain:'.length).toLowerCase()).test(new URL(url).hostname);
}

function glob(pattern: string): RegExp {
  return new RegExp(`^${globSource(pattern)}$`, 's');
}

function globSource(pattern: string): string {
  return pattern.split(/\*+/).map(escaped).join('[\\s\\S]*');
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
