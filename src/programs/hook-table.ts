import type { JsonValue } from '../internal/json.js';
import type { Cell } from './cell.js';
import type { HookEvent } from './hook-event.js';

/** Hooks of a program: where their files lie, when they run, what they read, and what their answers mean. */
export interface HookTable {
  /**
   * Usual paths of the files, relative to the home directory and to the workspace. `{app}` stands for the name of the
   * application, and `*.json` at the end for all JSON files of the directory.
   */
  readonly files: Cell<{ readonly user: readonly string[]; readonly workspace: readonly string[] }>;
  /** How a file is written. Unknown: comments are allowed, so that no guard is lost, and each hook has its own matcher. */
  readonly form: Cell<{ readonly comments?: boolean; readonly grouped?: boolean }>;
  /** Fields of a hook. */
  readonly entry: Cell<EntryTable>;
  /** Unit of the time limits. Unknown: milliseconds. */
  readonly timeUnit: Cell<'seconds' | 'milliseconds'>;
  /** True if a hook without a time limit has another one than here. */
  readonly defaultTimeout: Cell<boolean>;
  readonly events: Cell<Readonly<Record<string, EventTable>>>;
  /** Meaning of a matcher. Unknown: a pattern for any part of the name, so that it matches more. */
  readonly matcher: Cell<MatcherKind>;
  /** True if the reason of a session event and the like is matched. Unknown: the matcher is ignored. */
  readonly matchesSources: Cell<boolean>;
  /** Tools by name: their required arguments, and other names that matchers may use. */
  readonly tools: Cell<Readonly<Record<string, ToolTable>>>;
  /** Name of a tool of an MCP server, from `<server>` and `<tool>`. Unknown: the name here. */
  readonly mcpTool: Cell<string>;
  /** Name of such a tool of a `<plugin>`. Unknown: `mcpTool`. */
  readonly pluginTool: Cell<string>;
  readonly answer: Cell<AnswerTable>;
  /** True if an answer that no rule describes refuses at an event before a tool or a sub-agent. Unknown: it refuses. */
  readonly unknownAnswerRefuses: Cell<boolean>;
  /** Failures of a hook before a tool that refuse the call. Unknown: all. */
  readonly refusingFailures: Cell<readonly FailureKind[]>;
  /** Directory in which a hook starts. `file`: that of the hook file, for a hook of the user. Unknown: the workspace. */
  readonly startsIn: Cell<'workspace' | 'package' | 'file'>;
  /** Variables of a hook. */
  readonly variables: Cell<VariableTable>;
  /** Effect of a refused answer of the agent: it continues, or the answer is withheld. Unknown: withheld. */
  readonly refusedAnswer: Cell<'continued' | 'withheld'>;
  /** True if a command runs once even if several matchers of a file select it. Unknown: it runs each time. */
  readonly runsOnce: Cell<boolean>;
  /** True if hooks read transcripts in the form of Claude Code. Unknown: they get none. */
  readonly readsTranscripts: Cell<boolean>;
  /** Fields that a hook reads at every event. */
  readonly input: Cell<InputTable>;
}

export type MatcherKind = 'names-or-pattern' | 'words-or-pattern' | 'pattern' | 'pattern-or-name' | 'whole-name';

type FailureKind = 'not-started' | 'timed-out' | 'signaled' | 'exit-code' | 'output-limit' | 'malformed';

export interface ToolTable {
  readonly args?: readonly string[];
  readonly aliases?: readonly string[];
}

/** The fields of a hook in a file. A field that is not listed has no effect. */
export interface EntryTable {
  /** Fields with a command line, the first one that is present counts. */
  readonly command: readonly string[];
  /** Field with a program, which runs without a shell. */
  readonly program?: string;
  /** True if `args` means that no shell runs the command. */
  readonly argsWithoutShell?: boolean;
  readonly timeout: readonly string[];
  readonly env?: boolean;
  readonly cwd?: boolean;
  /** The name of the field that, if `true`, makes a failure of the hook block the action. */
  readonly failClosed?: string;
  /** True if `onFailure` is read, also in a file of a program that does not know it. */
  readonly onFailure?: boolean;
  /** Field with a permission rule. */
  readonly condition?: string;
  /** Fields that are `true` for a hook that nobody waits for. */
  readonly background?: readonly string[];
  /** Types of handlers. */
  readonly types: readonly ('command' | 'http')[];
  /** Fields of a handler that is a server. */
  readonly http?: { readonly url: string; readonly headers: string; readonly variables: string };
  /** Fields that have no effect here, and what that means. */
  readonly without?: Readonly<Record<string, string>>;
  /** True if the program quotes the directories in a command line itself. */
  readonly quotesFolders?: boolean;
}

/** An event of a program. */
export interface EventTable {
  /** The event here at which its hooks run. Undefined: its hooks do not run, for the reason in `absent`. */
  readonly event?: HookEvent;
  /** Why its hooks do not run. */
  readonly absent?: string;
  /** True if hooks of the event can refuse something in the program. */
  readonly guards?: boolean;
  /** True if its answers decide nothing in the program. */
  readonly notifies?: boolean;
  /** How it differs here. */
  readonly differs?: string;
  readonly after?: 'success' | 'failure';
  /** The only tool of the event. `mcp` means the tools of MCP servers. */
  readonly tools?: string;
  /** Argument that the matcher is tested with. Default: the name of the tool. */
  readonly subject?: 'command';
  /** True if matchers are used at the event. */
  readonly matched?: boolean;
  /** True if matchers may use the aliases of a tool. */
  readonly aliases?: boolean;
  readonly input?: InputTable;
}

/** Fields of the input. A string that begins with `$` names a value; every other value stands for itself. */
export interface InputTable {
  readonly [field: string]: `$${InputValue}` | JsonValue | InputTable;
}

export type InputValue =
  | 'tool'
  | 'alias'
  | 'mcpTool'
  | 'args'
  | 'argsJson'
  | 'text'
  | 'resultJson'
  | 'structuredJson'
  | 'session'
  | 'run'
  | 'now'
  | 'workspaces'
  | 'command'
  | 'path'
  | 'fileStart'
  | 'edits'
  | 'response'
  | 'claudeResult'
  | 'geminiResult'
  | 'geminiRequest'
  | 'geminiResponse';

/** The meaning of a field of an answer. */
export interface FieldTable {
  readonly type: 'text' | 'object' | 'boolean' | 'any' | 'words';
  /** Decision of each word. Capitals do not matter. Every other word is an unknown answer. */
  readonly words?: Readonly<Record<string, 'refuse' | 'ask' | 'allow'>>;
  readonly means: FieldMeaning;
  /** The only events of the program, or of Keelson, at which the field has this meaning. Default: all. */
  readonly at?: readonly string[];
  /** Events at which it has no meaning. */
  readonly notAt?: readonly string[];
}

export type FieldMeaning =
  | 'decision'
  | 'stop'
  | 'refuse'
  | 'reason'
  | 'context'
  | 'user'
  | 'user-of-refusal'
  | 'input'
  | 'input-changes'
  | 'result'
  | 'copilot-result'
  | 'again'
  | 'tools'
  | 'request'
  | 'response';

/** The effect of a refusal at an event. */
export type Refusal = 'cancel' | 'again' | 'context' | 'result' | 'error-result' | 'user' | 'none';

/** How the answers of a hook are read. */
export interface AnswerTable {
  /** Fields by path, such as `hookSpecificOutput.updatedInput`. `stop` and `refuse` count if the field is `false`. */
  readonly fields: Readonly<Record<string, FieldTable | readonly FieldTable[]>>;
  /** Effect of a refusal, by event here or by event of the program. `*` stands for all others. */
  readonly refusal: Readonly<Record<string, Refusal>> & { readonly '*': Refusal };
  /** Effect of exit code 2 where it is another one. `stdout-context`: the model reads standard output. */
  readonly exit2?: Readonly<Record<string, Refusal | 'stdout-context'>>;
  /** Meaning of text that is not JSON, by event. Default: it is ignored. */
  readonly text?: Readonly<Record<string, 'context' | 'user' | 'ignored' | 'unknown'>>;
  /** Fields without which an answer is unknown, by event. */
  readonly needs?: Readonly<Record<string, string>>;
  /** Events at which answers are ignored. */
  readonly ignoredAt?: readonly string[];
  /** True if a first line `{"async": true}` means that nobody needs to wait. */
  readonly detaches?: boolean;
  /** True if standard error counts when standard output is empty. */
  readonly readsStderr?: boolean;
  /** True if lines with `"type": "progress"` do not count. */
  readonly hasProgress?: boolean;
}

/** Variables that a hook gets, and those that it may name. */
interface VariableTable {
  readonly workspace: readonly string[];
  readonly package: readonly string[];
  readonly session?: readonly string[];
  /** Variables with a fixed value, which are part of the approval. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** Variable with the data directory of a plugin. A hook that names it elsewhere does not run. */
  readonly data?: string;
  /** Variables that are not set here, and what is lost. */
  readonly missing?: Readonly<Record<string, string>>;
}

/** Returns the event that the hook file names; undefined for a hook without `dialectEvent`. */
export function namedEvent<Event>(
  events: Readonly<Record<string, Event>>,
  { dialectEvent }: { readonly dialectEvent?: string | undefined },
): Event | undefined {
  return dialectEvent !== undefined && Object.hasOwn(events, dialectEvent) ? events[dialectEvent] : undefined;
}
