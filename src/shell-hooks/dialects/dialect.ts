import { contentText } from '../../model/message.js';
import type { HookDialect, HookEvent } from '../../programs/hook-event.js';
import type { EventFields } from '../events/hook-event-context.js';
import type { HookContent, HookSource } from '../files/source.js';
import type { ShellHook } from '../hook/definition.js';
import type { FinishedHook, HookReading } from '../hook/effects.js';

/** An event of a program, and the event of Keelson that it maps to. */
export interface DialectEvent {
  readonly event: HookEvent;
  /** Limits an `after_tool` hook to tools that succeeded, or to tools that failed. */
  readonly after?: 'success' | 'failure' | undefined;
  /**
   * Limits a tool event to one tool, by its name in this dialect. `mcp` means the tools of MCP servers. Default: all
   * tools.
   */
  readonly tools?: string | undefined;
  /** Returns the string that the matcher is tested with. Default: the name of the tool. */
  readonly subject?: ((args: unknown) => string | undefined) | undefined;
  /** Returns a further name of a tool, which matchers at this event may use. */
  readonly alias?: ((toolName: string) => string) | undefined;
}

/** Events that do not exist here. Hooks at `gates` could have refused something, so they are reported as errors. */
export interface OtherEvents {
  readonly notices: readonly string[];
  readonly gates: readonly string[];
}

/** Values from which a dialect builds the input of a hook. */
export interface DialectInputSource {
  readonly hook: ShellHook;
  readonly fields: EventFields;
  /** Name of the tool in this dialect. Set only at tool events. */
  readonly toolName: string | undefined;
  readonly sessionId: string;
  /** Id of the run. Undefined for session events. */
  readonly runId: string | undefined;
  readonly workspaceDir: string;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
  /**
   * Redacts sensitive fields. Needed only for values that the dialect writes as JSON strings; all other fields are
   * redacted later.
   */
  readonly redact: (value: unknown) => unknown;
}

/** Values from which a dialect builds the environment variables of a hook. */
export interface DialectEnvironment {
  readonly workspaceDir: string;
  readonly sessionId: string;
  /** Prefix of the variable names of this application. */
  readonly prefix: string;
}

/** Rules for the hooks of one program: how files are parsed, inputs are built, and outputs are interpreted. */
export interface Dialect {
  readonly id: HookDialect;
  /**
   * Events by their name in this dialect. If several names map to one event, a hook without `dialectEvent` gets the
   * first name.
   */
  readonly events: Readonly<Record<string, DialectEvent>>;
  /** Events of the program that do not exist here. Default: none. */
  readonly otherEvents?: OtherEvents | undefined;
  /**
   * Standard paths of hook files, relative to the home directory and to the workspace. `{app}` stands for the name of
   * the application. `*.json` at the end stands for all JSON files of the directory.
   */
  readonly places: { readonly user: readonly string[]; readonly workspace: readonly string[] };
  /** Names of the variables that hold the directory of the project and of the extension package. */
  readonly folders: { readonly project: readonly string[]; readonly extension: readonly string[] };
  /** Variables with a fixed value. They are expanded before the command line is shown for approval. */
  readonly constants?: Readonly<Record<string, string>> | undefined;
  /** Default working directory of an extension package's hooks. */
  readonly worksIn: 'extension' | 'workspace';
  /** Effect of a hook that refuses an answer: the answer is withheld, or the agent continues. */
  readonly refusedAnswer: 'withheld' | 'continued';
  /** True if hook files may contain comments. Default false. */
  readonly hasComments?: boolean | undefined;
  /** True if hook files contain tool names of another program. Default false. */
  readonly hasForeignTools?: boolean | undefined;
  /** Required arguments of the tools that the program documents, by tool name, as of November 2026. Default: none. */
  readonly toolFields?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * True if a matcher at an event without a tool is tested with the `source` of the event, such as the reason why a
   * session starts. Default false: the matcher is ignored.
   */
  readonly matchesSources?: boolean | undefined;
  /** True if hooks may read a transcript in the format of Claude Code. Default false: `transcript_path` is empty. */
  readonly readsTranscripts?: boolean | undefined;
  /** True if a command runs once even if several matchers of a file select it. Default false. */
  readonly runsOnce?: boolean | undefined;
  /**
   * Returns the name of a tool in this dialect. Not called for tools in `toolNames`. Default: the name is unchanged.
   */
  readonly toolName?: ((name: string) => string) | undefined;
  /**
   * Returns the name of an MCP tool of a plugin, from the name of the plugin and `server__tool`. Default: the name has no
   * plugin.
   */
  readonly pluginTool?: ((plugin: string, tool: string) => string) | undefined;
  /**
   * Translates a matcher to the native dialect: a list of names, or a regular expression. Default: the matcher is
   * unchanged.
   */
  readonly matcher?: ((given: string) => string) | undefined;
  /** Reads the `hooks` of a document. Reports invalid hooks and leaves them out. */
  readonly parse: (document: Readonly<Record<string, unknown>>, source: HookSource) => HookContent;
  /** Returns input fields that only hooks of this dialect get. They replace common fields with the same name. */
  readonly input?: ((source: DialectInputSource) => Readonly<Record<string, unknown>>) | undefined;
  /** Returns environment variables that only hooks of this dialect get. */
  readonly variables?:
    | ((hook: ShellHook, environment: DialectEnvironment) => Readonly<Record<string, string>>)
    | undefined;
  /** Returns true if the first line of output says that Keelson does not need to wait for the hook. Default: false. */
  readonly detaches?: ((line: string) => boolean) | undefined;
  /** Interprets the result of a hook. */
  readonly read: (run: FinishedHook) => HookReading;
}

/** Returns the event that the hook file names; undefined for a hook without `dialectEvent`. */
export function namedEvent<Event>(
  events: Readonly<Record<string, Event>>,
  { dialectEvent }: Pick<ShellHook, 'dialectEvent'>,
): Event | undefined {
  return dialectEvent !== undefined && Object.hasOwn(events, dialectEvent) ? events[dialectEvent] : undefined;
}

/** Returns the names of all events of a program, also of those that do not exist here. */
export function eventNames({ events, otherEvents }: Dialect): readonly string[] {
  return [...Object.keys(events), ...(otherEvents?.gates ?? []), ...(otherEvents?.notices ?? [])];
}

/** Returns the text of a tool result. Undefined except at `after_tool`. */
export function resultText({ fields: { result } }: DialectInputSource): string | undefined {
  return result && contentText(result.content);
}

const LONGEST_ID = 4_096;

/**
 * Returns the session id as an environment variable. Returns no variable if the id, which may come from a client, is
 * too long or contains NUL. The hook's input always contains the id.
 */
export function sessionVariable(name: string, id: string): Readonly<Record<string, string>> {
  return id.includes('\0') || id.length > LONGEST_ID ? {} : { [name]: id };
}
