import type { JsonValue } from '../internal/json.js';
import type { Cell } from './cell.js';
import type { HookEvent } from './hook-event.js';

/**
 * Describes the hooks of another program, such as Claude Code: the places of their files, when they run, what they
 * read, and what their answers mean.
 */
export interface HookTable {
  /**
   * The paths of the hook files, relative to the home directory (`user`) and to the workspace. `{app}` stands for the
   * name of the application, and `*.json` for all JSON files of the directory.
   */
  readonly files: Cell<{ readonly user: readonly string[]; readonly workspace: readonly string[] }>;
  /**
   * The form of a hook file. `comments`: the file may contain comments. `grouped`: the hooks are grouped by matcher.
   *
   * If unknown, comments are allowed, so that every hook is found, and each hook has its own matcher.
   */
  readonly form: Cell<{ readonly comments?: boolean; readonly grouped?: boolean }>;
  /** The fields that describe one hook in a file. */
  readonly entry: Cell<EntryTable>;
  /** The unit of the time limits of hooks. If unknown, the time limits are in milliseconds. */
  readonly timeUnit: Cell<'seconds' | 'milliseconds'>;
  /** True if the default time limit of the program's hooks differs from Keelson's default. */
  readonly defaultTimeout: Cell<boolean>;
  readonly events: Cell<Readonly<Record<string, EventTable>>>;
  /**
   * The way in which a matcher is compared with the name of a tool. If unknown, a matcher is a pattern that may match
   * any part of the name, so that no hook is skipped.
   */
  readonly matcher: Cell<MatcherKind>;
  /**
   * True if a matcher also applies at events without a tool, for example to the reason for a session start. If unknown,
   * matchers are ignored at these events, so that no hook is skipped.
   */
  readonly matchesSources: Cell<boolean>;
  /**
   * The tools of the program by name, with their required arguments and the other names that matchers may use for them.
   */
  readonly tools: Cell<Readonly<Record<string, ToolTable>>>;
  /**
   * The pattern for the name of an MCP server's tool, with `<server>` and `<tool>`. If unknown, hooks see the name that
   * Keelson uses.
   */
  readonly mcpTool: Cell<string>;
  /**
   * The pattern for the name of a tool of an MCP server that a `<plugin>` provides. If unknown, the pattern of
   * `mcpTool` is used.
   */
  readonly pluginTool: Cell<string>;
  readonly answer: Cell<AnswerTable>;
  /**
   * True if a hook refuses the tool call or sub-agent when its answer cannot be understood. If unknown, the hook
   * refuses.
   */
  readonly unknownAnswerRefuses: Cell<boolean>;
  /**
   * The kinds of failure with which a `before_tool` hook refuses the tool call. If unknown, every failure refuses the
   * call.
   */
  readonly refusingFailures: Cell<readonly FailureKind[]>;
  /**
   * The directory in which a hook starts. With `file`, a hook from the user's files starts in the directory of its hook
   * file. If unknown, hooks start in the workspace.
   */
  readonly startsIn: Cell<'workspace' | 'package' | 'file'>;
  /** The environment variables that a hook gets. */
  readonly variables: Cell<VariableTable>;
  /**
   * The effect of a hook that refuses the agent's final answer: the agent continues its work, or the user does not get
   * the answer. If unknown, the user does not get the answer.
   */
  readonly refusedAnswer: Cell<'continued' | 'withheld'>;
  /**
   * True if a command runs only once at an event, even if several matchers in a file select it. If unknown, it runs
   * once for each matcher.
   */
  readonly runsOnce: Cell<boolean>;
  /**
   * True if hooks read the conversation from a transcript file in the form of Claude Code. If unknown, hooks get no
   * transcript.
   */
  readonly readsTranscripts: Cell<boolean>;
  /** The JSON fields that a hook reads from its standard input, at every event. */
  readonly input: Cell<InputTable>;
}

export type MatcherKind = 'names-or-pattern' | 'words-or-pattern' | 'pattern' | 'pattern-or-name' | 'whole-name';

type FailureKind = 'not-started' | 'timed-out' | 'signaled' | 'exit-code' | 'output-limit' | 'malformed';

export interface ToolTable {
  readonly args?: readonly string[];
  readonly aliases?: readonly string[];
}

/** Describes one hook in a hook file: the names of its fields. A field that is not listed here has no effect. */
export interface EntryTable {
  /** The names of the fields that may hold the command line. The first one that is present counts. */
  readonly command: readonly string[];
  /** The name of the field that holds a program, which runs without a shell. */
  readonly program?: string;
  /** True if a hook with the field `args` runs without a shell. */
  readonly argsWithoutShell?: boolean;
  readonly timeout: readonly string[];
  readonly env?: boolean;
  readonly cwd?: boolean;
  /** The name of a field. If the field is `true`, a failure of the hook blocks the action. */
  readonly failClosed?: string;
  /** True if Keelson also reads its own field `onFailure` in hook files of this program. */
  readonly onFailure?: boolean;
  /** The name of the field that holds a permission rule. The hook only runs for tool calls that fit the rule. */
  readonly condition?: string;
  /** The names of fields. If one of them is `true`, the agent does not wait for the hook. */
  readonly background?: readonly string[];
  /** The types of hooks that Keelson can run: commands, and requests to an HTTP server. */
  readonly types: readonly ('command' | 'http')[];
  /** The names of the fields of a hook that calls an HTTP server. */
  readonly http?: { readonly url: string; readonly headers: string; readonly variables: string };
  /** Fields of the program that have no effect in Keelson, each with a description of the consequence for the user. */
  readonly without?: Readonly<Record<string, string>>;
  /**
   * True if a command line may contain the path separator as a variable, as in Gemini CLI. Keelson then replaces it
   * before a shell reads the line.
   */
  readonly quotesFolders?: boolean;
}

/** Describes an event of the program at which hooks run. */
export interface EventTable {
  /** The corresponding event in Keelson. If undefined, Keelson never runs these hooks, for the reason in `absent`. */
  readonly event?: HookEvent;
  /** The reason why Keelson never runs the hooks of this event, for a message to the user. */
  readonly absent?: string;
  /** True if hooks of this event can refuse something in the program. */
  readonly guards?: boolean;
  /** True if the program ignores the answers of hooks at this event, because the hooks are only notified. */
  readonly notifies?: boolean;
  /** A description of how the event differs between the program and Keelson, for a message to the user. */
  readonly differs?: string;
  readonly after?: 'success' | 'failure';
  /** The only tool at whose calls the hooks of this event run. `mcp` stands for all tools of MCP servers. */
  readonly tools?: string;
  /** The argument of the tool call that a matcher is compared with. Default: the name of the tool. */
  readonly subject?: 'command';
  /** True if the program runs only the hooks whose matcher fits at this event. Otherwise it ignores matchers. */
  readonly matched?: boolean;
  /** True if a matcher may also use the other names of a tool. */
  readonly aliases?: boolean;
  readonly input?: InputTable;
}

/**
 * The JSON fields that a hook reads from its standard input. A string that begins with `$` stands for a value of the
 * event. Every other value is passed on as it is.
 */
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

/** Describes one field of a hook's answer: its type, its meaning, and the events at which the field counts. */
export interface FieldTable {
  readonly type: 'text' | 'object' | 'boolean' | 'any' | 'words';
  /** The decision that each word stands for, in upper or lower case. An answer with any other word is invalid. */
  readonly words?: Readonly<Record<string, 'refuse' | 'ask' | 'allow'>>;
  readonly means: FieldMeaning;
  /** The events at which the field counts, by their names in the program or in Keelson. Default: all. */
  readonly at?: readonly string[];
  /** Events at which the field does not count, by their names in the program or in Keelson. */
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

/**
 * The effect of a hook that refuses. For example, `cancel` stops the action, `again` makes the agent continue, and
 * `user` only shows a message.
 */
export type Refusal = 'cancel' | 'again' | 'context' | 'result' | 'error-result' | 'user' | 'none';

/** Describes how to read the answers of a program's hooks. */
export interface AnswerTable {
  /**
   * The fields in the output of a hook, by their path, such as `hookSpecificOutput.updatedInput`. A field whose meaning
   * is `stop` or `refuse` has this effect if its value is `false`, such as `continue: false`.
   */
  readonly fields: Readonly<Record<string, FieldTable | readonly FieldTable[]>>;
  /**
   * The effect of a refusal at each event, by the name of the event in the program or in Keelson. `*` stands for all
   * other events.
   */
  readonly refusal: Readonly<Record<string, Refusal>> & { readonly '*': Refusal };
  /**
   * The effect of exit code 2 at events where it differs from `refusal`. With `stdout-context`, the model reads the
   * standard output of the hook.
   */
  readonly exit2?: Readonly<Record<string, Refusal | 'stdout-context'>>;
  /** The meaning of an answer that is not JSON, by event. Default: it is ignored. */
  readonly text?: Readonly<Record<string, 'context' | 'user' | 'ignored' | 'unknown'>>;
  /** By event: the path of the field that the output of a hook must have. Output without this field is invalid. */
  readonly needs?: Readonly<Record<string, string>>;
  /** Events at which answers are ignored. */
  readonly ignoredAt?: readonly string[];
  /** True if an answer whose first line is `{"async": true}` means that the agent need not wait for the hook. */
  readonly detaches?: boolean;
  /** True if the standard error of a hook is its answer when the standard output is empty. */
  readonly readsStderr?: boolean;
  /**
   * True if standard output may contain progress lines, such as `{ "type": "progress" }`. They are not part of the
   * answer.
   */
  readonly hasProgress?: boolean;
}

/** The names of the environment variables that a hook gets, by the value that they hold. */
interface VariableTable {
  readonly workspace: readonly string[];
  readonly package: readonly string[];
  readonly session?: readonly string[];
  /** Variables with a fixed value. If a value changes, the user must approve the hook again. */
  readonly fixed?: Readonly<Record<string, string>>;
  /**
   * The variable that holds the data directory of a plugin. Only a plugin has such a directory, so a hook outside a
   * plugin does not run if it names the variable.
   */
  readonly data?: string;
  /** Variables of the program that Keelson does not set, each with a description of what a hook loses without it. */
  readonly missing?: Readonly<Record<string, string>>;
}

/**
 * Returns the description of the event that the hook file names. Undefined for a hook that has no event name of another
 * program.
 */
export function namedEvent<Event>(
  events: Readonly<Record<string, Event>>,
  { dialectEvent }: { readonly dialectEvent?: string | undefined },
): Event | undefined {
  return dialectEvent !== undefined && Object.hasOwn(events, dialectEvent) ? events[dialectEvent] : undefined;
}
