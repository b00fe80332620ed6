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
  /**
   * The form of a hook file: it may have comments, and its hooks may be grouped by matcher. If unknown, comments are
   * allowed, so that no guard is lost, and each hook has its own matcher.
   */
  readonly form: Cell<{ readonly comments?: boolean; readonly grouped?: boolean }>;
  /** Fields of a hook. */
  readonly entry: Cell<EntryTable>;
  /** Unit of the time limits. If unknown, they are in milliseconds. */
  readonly timeUnit: Cell<'seconds' | 'milliseconds'>;
  /** True if the program has its own default time limit, which differs from the default of Keelson. */
  readonly defaultTimeout: Cell<boolean>;
  readonly events: Cell<Readonly<Record<string, EventTable>>>;
  /** Meaning of a matcher. If unknown, a matcher is a pattern for any part of the name, so that it matches more. */
  readonly matcher: Cell<MatcherKind>;
  /**
   * True if a matcher also applies at events without a tool, such as to the reason of a session start. If unknown, the
   * matcher is ignored at these events.
   */
  readonly matchesSources: Cell<boolean>;
  /** Tools by name: their required arguments, and other names that matchers may use. */
  readonly tools: Cell<Readonly<Record<string, ToolTable>>>;
  /** Name of a tool of an MCP server, from `<server>` and `<tool>`. If unknown, Keelson's own name is used. */
  readonly mcpTool: Cell<string>;
  /** Name of a tool of an MCP server that a `<plugin>` provides. If unknown, the name of `mcpTool` is used. */
  readonly pluginTool: Cell<string>;
  readonly answer: Cell<AnswerTable>;
  /**
   * True if an answer that no rule describes refuses at an event before a tool or a sub-agent. If unknown, it refuses.
   */
  readonly unknownAnswerRefuses: Cell<boolean>;
  /** The kinds of failure of a `before_tool` hook that refuse the call. If unknown, all kinds refuse it. */
  readonly refusingFailures: Cell<readonly FailureKind[]>;
  /**
   * Directory in which a hook starts. With `file`, a hook of the user starts in the directory of its hook file. If
   * unknown, it starts in the workspace.
   */
  readonly startsIn: Cell<'workspace' | 'package' | 'file'>;
  /** Variables of a hook. */
  readonly variables: Cell<VariableTable>;
  /**
   * Effect if a hook refuses the answer of the agent: the agent continues, or the answer is withheld. If unknown, the
   * answer is withheld.
   */
  readonly refusedAnswer: Cell<'continued' | 'withheld'>;
  /** True if a command runs once even if several matchers of a file select it. If unknown, it runs for each matcher. */
  readonly runsOnce: Cell<boolean>;
  /** True if hooks read transcripts in the form of Claude Code. If unknown, hooks get no transcript. */
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
  /** Fields that may hold the command line. The first field that is present counts. */
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
  /** True if Keelson reads its own field `onFailure` in files of this program. */
  readonly onFailure?: boolean;
  /** Field with a permission rule. */
  readonly condition?: string;
  /** Names of fields. If a hook has `true` in one of them, the agent does not wait for the hook. */
  readonly background?: readonly string[];
  /** Types of handlers. */
  readonly types: readonly ('command' | 'http')[];
  /** Names of the fields of an HTTP handler. */
  readonly http?: { readonly url: string; readonly headers: string; readonly variables: string };
  /** Fields that have no effect in Keelson, each with a description of the consequence. */
  readonly without?: Readonly<Record<string, string>>;
  /** True if the program quotes the directories in a command line itself. */
  readonly quotesFolders?: boolean;
}

/** An event of a program. */
export interface EventTable {
  /** The event of Keelson at which the hooks run. If undefined, the hooks do not run, for the reason in `absent`. */
  readonly event?: HookEvent;
  /** The reason why the hooks of the event do not run. */
  readonly absent?: string;
  /** True if hooks of the event can refuse something in the program. */
  readonly guards?: boolean;
  /** True if the answer of a hook at the event decides nothing in the program. */
  readonly notifies?: boolean;
  /** The difference between the program and Keelson at this event. */
  readonly differs?: string;
  readonly after?: 'success' | 'failure';
  /** The only tool of the event. `mcp` means the tools of MCP servers. */
  readonly tools?: string;
  /** Argument that the matcher is tested with. Default: the name of the tool. */
  readonly subject?: 'command';
  /** True if the program selects hooks by their matchers at the event. Otherwise it ignores matchers there. */
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

/** Describes one field of a hook's answer: its type, its meaning, and the events at which it has this meaning. */
export interface FieldTable {
  readonly type: 'text' | 'object' | 'boolean' | 'any' | 'words';
  /** The decision that each word stands for, in upper or lower case. Any other word is an unknown answer. */
  readonly words?: Readonly<Record<string, 'refuse' | 'ask' | 'allow'>>;
  readonly means: FieldMeaning;
  /** The only events of the program, or of Keelson, at which the field has this meaning. Default: all. */
  readonly at?: readonly string[];
  /** Events at which the field has no meaning. */
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
  /** Effect of a refusal, by the name of the event in Keelson or in the program. `*` stands for all other events. */
  readonly refusal: Readonly<Record<string, Refusal>> & { readonly '*': Refusal };
  /**
   * Effect of exit code 2 at events where it differs from `refusal`. With `stdout-context`, the model reads standard
   * output.
   */
  readonly exit2?: Readonly<Record<string, Refusal | 'stdout-context'>>;
  /** Meaning of text that is not JSON, by event. Default: it is ignored. */
  readonly text?: Readonly<Record<string, 'context' | 'user' | 'ignored' | 'unknown'>>;
  /** The field that an answer must have, by event. An answer without the field counts as unknown. */
  readonly needs?: Readonly<Record<string, string>>;
  /** Events at which answers are ignored. */
  readonly ignoredAt?: readonly string[];
  /** True if a first line `{"async": true}` means that nobody needs to wait. */
  readonly detaches?: boolean;
  /** True if standard error is read as the answer when standard output is empty. */
  readonly readsStderr?: boolean;
  /** True if standard output may contain progress lines, `{ "type": "progress" }`, which are not part of the answer. */
  readonly hasProgress?: boolean;
}

/** The environment variables of a hook. */
interface VariableTable {
  readonly workspace: readonly string[];
  readonly package: readonly string[];
  readonly session?: readonly string[];
  /** Variables with a fixed value, which are part of the approval. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** Variable with the data directory of a plugin. A hook outside of a plugin does not run if it names the variable. */
  readonly data?: string;
  /** Variables that Keelson does not set, each with a description of what is lost. */
  readonly missing?: Readonly<Record<string, string>>;
}

/** Returns the event that the hook file names; undefined for a hook without `dialectEvent`. */
export function namedEvent<Event>(
  events: Readonly<Record<string, Event>>,
  { dialectEvent }: { readonly dialectEvent?: string | undefined },
): Event | undefined {
  return dialectEvent !== undefined && Object.hasOwn(events, dialectEvent) ? events[dialectEvent] : undefined;
}
