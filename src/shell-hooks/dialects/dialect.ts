import type { HookDialect, HookEvent } from '../../programs/hook-event.js';
import { factsOf, type HookFacts } from '../../programs/hook-facts.js';
import { type EventTable, type HookTable, namedEvent } from '../../programs/hook-table.js';
import { PROGRAMS, programOf } from '../../programs/list.js';
import { parseNativeHooks } from '../files/native-file.js';
import { parseEvents } from '../files/parse-events.js';
import type { JsonMap } from '../files/read-entry.js';
import type { ShellHook } from '../hook/definition.js';
import type { HookContent, HookSource } from '../hook/diagnostic.js';
import type { FinishedHook, HookReading } from '../hook/effects.js';
import { type DialectInputSource, inputFields } from './input-values.js';
import { readNative } from './native-answer.js';
import { parseOutput } from './output.js';
import { readAnswer } from './read-answer.js';

/** An event of a program at which Keelson runs hooks. */
export type DialectEvent = EventTable & { readonly event: HookEvent };

/** Values from which a dialect builds the environment variables of a hook. */
interface DialectEnvironment {
  readonly workspaceDir: string;
  readonly sessionId: string;
  /** Prefix of the variable names of this application. */
  readonly prefix: string;
}

/** The rules for the hooks of one program. */
export interface Dialect {
  readonly id: HookDialect;
  readonly facts: HookFacts;
  /**
   * The events that Keelson has too, by their name in this dialect. If several names map to one event, a hook without
   * `dialectEvent` gets the first name.
   */
  readonly events: Readonly<Record<string, DialectEvent>>;
  /** True if hook files contain tool names of another program. */
  readonly hasForeignTools: boolean;
  /** Returns the name of a tool in this dialect. Not called for tools in `toolNames`. */
  toolName(name: string): string;
  /** Returns the name of an MCP tool of a plugin, from the name of the plugin and `server__tool`. */
  pluginTool(plugin: string, tool: string): string;
  /** Returns the names that matchers may use for an MCP tool of a plugin. */
  pluginNames(plugin: string, tool: string): readonly string[];
  /** Returns further names of a tool, which matchers may use. */
  aliases(name: string): readonly string[];
  /** Reads the `hooks` of a document. Reports invalid hooks and leaves them out. */
  parse(document: JsonMap, source: HookSource): HookContent;
  /** Returns input fields that only hooks of this dialect get. They replace common fields with the same name. */
  input(source: DialectInputSource): JsonMap;
  /** Returns environment variables that only hooks of this dialect get. */
  variables(hook: ShellHook, environment: DialectEnvironment): Readonly<Record<string, string>>;
  /** Returns true if the first line of output says that Keelson does not need to wait for the hook. */
  readonly detaches: ((line: string) => boolean) | undefined;
  /** Interprets the result of a hook. */
  read(run: FinishedHook): HookReading;
}

const created = new WeakMap<HookTable, Dialect>();

/** Returns the ids of the programs with hooks. */
export function dialectIds(): readonly HookDialect[] {
  return PROGRAMS.filter(({ hooks }) => hooks !== undefined).map(({ id }) => id as HookDialect);
}

/** Returns the dialect with this id, or the native dialect if the id is unknown. */
export function dialectOf(id: HookDialect): Dialect {
  const table = programOf(id)?.hooks;
  if (table === undefined) return dialectOf('native');
  const dialect = created.get(table) ?? createDialect(id, table);
  created.set(table, dialect);
  return dialect;
}

/** Returns the hook's event in its dialect; undefined for a hook without `dialectEvent`. */
export function namedEventOf(hook: Pick<ShellHook, 'dialect' | 'dialectEvent'>): DialectEvent | undefined {
  return hook.dialectEvent === undefined ? undefined : namedEvent(dialectOf(hook.dialect).events, hook);
}

/** Returns the name of the hook's event in its dialect. */
export function eventNameOf({ dialect, dialectEvent, event }: ShellHook): string {
  if (dialectEvent !== undefined) return dialectEvent;
  const names = Object.entries(dialectOf(dialect).events);
  return names.find(([, named]) => named.event === event)?.[0] ?? event;
}

function createDialect(id: HookDialect, table: HookTable): Dialect {
  const isNative = id === 'native';
  const facts = factsOf(table);
  const { mcpTool, pluginTool, tools, events, input } = facts;
  const here = Object.entries(events).filter((entry): entry is [string, DialectEvent] => entry[1].event !== undefined);
  const toolName = (name: string) => mcpName(mcpTool, /^mcp__(.+?)__(.*)$/.exec(name)) ?? name;
  const pluginName = (plugin: string, tool: string) =>
    mcpName(
      pluginTool.replace('<plugin>', () => plugin),
      /^(.+?)__(.*)$/.exec(tool),
    ) ?? `mcp__${tool}`;
  return {
    id,
    facts,
    events: Object.fromEntries(here),
    hasForeignTools: !isNative,
    toolName,
    pluginTool: table.pluginTool === 'unknown' ? (_plugin, tool) => toolName(`mcp__${tool}`) : pluginName,
    pluginNames: (plugin, tool) => [`mcp__${tool}`, pluginName(plugin, tool)],
    aliases: (name) => (Object.hasOwn(tools, name) ? (tools[name]?.aliases ?? []) : []),
    parse: isNative ? parseNativeHooks : (document, source) => parseEvents(document, source, facts),
    input: isNative
      ? () => ({})
      : (source) => inputFields({ ...input, ...namedEvent(events, source.hook)?.input }, source, tools),
    variables: isNative
      ? ownVariables
      : (_hook, { sessionId }) => sessionVariables(facts.variables.session ?? [], sessionId),
    detaches: facts.answer.detaches ? isAsyncNotice : undefined,
    read: isNative ? readNative : (run) => readAnswer(run, facts),
  };
}

/** Returns true for the line `{"async": true}`. With it, a hook says that Keelson does not need to wait for it. */
function isAsyncNotice(line: string): boolean {
  return parseOutput(line).output?.async === true;
}

function mcpName(template: string, parts: RegExpExecArray | null): string | undefined {
  if (parts === null) return undefined;
  const [, server = '', tool = ''] = parts;
  return template.replace('<server>', () => server).replace('<tool>', () => tool);
}

const LONGEST_ID = 4_096;

/**
 * A session id that comes from a client may be too long for a variable, or contain NUL. Then no variable is set, and
 * the hook reads the id in its input.
 */
function sessionVariables(names: readonly string[], id: string): Readonly<Record<string, string>> {
  return id.includes('\0') || id.length > LONGEST_ID ? {} : Object.fromEntries(names.map((name) => [name, id]));
}

function ownVariables({ event }: ShellHook, { prefix, workspaceDir, sessionId }: DialectEnvironment) {
  return {
    [`${prefix}_PROJECT_DIR`]: workspaceDir,
    ...sessionVariables([`${prefix}_SESSION_ID`], sessionId),
    [`${prefix}_HOOK_EVENT`]: event,
  };
}
