import { contentText } from '../../model/message.js';
import type { EventFields } from '../events/hook-event-context.js';
import type { HookContent, HookSource } from '../files/source.js';
import type { ShellHook } from '../hook/definition.js';
import type { FinishedHook, HookReading } from '../hook/effects.js';
import type { HookDialect, HookEvent } from '../hook/event.js';

/** An event as a program names it. */
export interface DialectEvent {
  readonly event: HookEvent;
  /** At `after_tool`: the hook runs only after a tool that succeeded, or only after one that failed. */
  readonly after?: 'success' | 'failure' | undefined;
  /** At tool events: the name, in this dialect, of the tool that raises it; `mcp` for the tools of servers. Default: all. */
  readonly tools?: string | undefined;
  /** Returns the string that the matcher is tried on, in place of the name of the tool. */
  readonly subject?: ((args: unknown) => string | undefined) | undefined;
}

/** What an input is built from. */
export interface DialectInputSource {
  readonly hook: ShellHook;
  readonly fields: EventFields;
  /** The name of the tool in this dialect, at a tool event. */
  readonly toolName: string | undefined;
  readonly sessionId: string;
  /** Absent for the events of a session. */
  readonly runId: string | undefined;
  readonly workspaceDir: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Redacts sensitive fields. A dialect calls it on what it writes as JSON within JSON; the rest is redacted anyway. */
  readonly redact: (value: unknown) => unknown;
}

/** What the environment of a hook is built from. */
export interface DialectEnvironment {
  readonly workspaceDir: string;
  readonly sessionId: string;
  /** Begins the names of the variables of this application. */
  readonly prefix: string;
}

/** How the hooks of one program are read, run and understood. A program's dialect is one object in one file. */
export interface Dialect {
  readonly id: HookDialect;
  /** The events, by their names in this dialect. The first name of an event is what a hook without one is told. */
  readonly events: Readonly<Record<string, DialectEvent>>;
  /**
   * The files that hooks are kept in by custom, relative to the home folder and to the workspace. `{app}` stands for
   * the name of the application, and `*.json` at the end for all such files of the folder.
   */
  readonly places: { readonly user: readonly string[]; readonly workspace: readonly string[] };
  /** Variables that hold the folder of the project, and of the extension. */
  readonly folders: { readonly project: readonly string[]; readonly extension: readonly string[] };
  /** Variables with a fixed value. They are replaced before an approval reads the command line. */
  readonly constants?: Readonly<Record<string, string>> | undefined;
  /** Default folder of a hook of an extension. */
  readonly worksIn: 'extension' | 'workspace';
  /** Whether a hook that refuses an answer withholds it, or has the agent go on. */
  readonly refusedAnswer: 'withheld' | 'continued';
  /** Whether its files may have comments. Default false. */
  readonly hasComments?: boolean | undefined;
  /** Whether its files name the tools of another program. Default false. */
  readonly hasForeignTools?: boolean | undefined;
  /** Whether matchers also look at why a session starts or ends. Default false. */
  readonly matchesSessions?: boolean | undefined;
  /** Whether a command that several matchers of a file name runs once. Default false. */
  readonly runsOnce?: boolean | undefined;
  /** The name of a tool in this dialect, unless the host names it. Default: our name. */
  readonly toolName?: ((name: string) => string) | undefined;
  /** A matcher of this dialect as one of the native dialect: a list of names, or a pattern. Default: the same. */
  readonly matcher?: ((given: string) => string) | undefined;
  /** Reads the `hooks` of a document. Reports what cannot be read and leaves it out. */
  readonly parse: (document: Readonly<Record<string, unknown>>, source: HookSource) => HookContent;
  /** The fields that only hooks of this dialect get; they come in the place of common fields of the same name. */
  readonly input?: ((source: DialectInputSource) => Readonly<Record<string, unknown>>) | undefined;
  /** The variables that only hooks of this dialect get. */
  readonly variables?:
    | ((hook: ShellHook, environment: DialectEnvironment) => Readonly<Record<string, string>>)
    | undefined;
  /** Reads what a finished hook said. */
  readonly read: (run: FinishedHook) => HookReading;
}

/** The event of a hook by the name that its file gives it; undefined for a hook that no file names. */
export function namedEvent<Event>(
  events: Readonly<Record<string, Event>>,
  { dialectEvent }: Pick<ShellHook, 'dialectEvent'>,
): Event | undefined {
  return dialectEvent !== undefined && Object.hasOwn(events, dialectEvent) ? events[dialectEvent] : undefined;
}

/** The text of a tool's result, at `after_tool`. */
export function resultText({ fields: { result } }: DialectInputSource): string | undefined {
  return result && contentText(result.content);
}

const LONGEST_ID = 4_096;

/** The id of a session as a variable. Ids often come from clients: one that no variable can hold is in the input alone. */
export function sessionVariable(name: string, id: string): Readonly<Record<string, string>> {
  return id.includes('\0') || id.length > LONGEST_ID ? {} : { [name]: id };
}
