import { known } from '../../programs/cell.js';
import type { HookDialect, HookEvent } from '../../programs/hook-event.js';
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

/** An event of a program whose hooks run here. */
export type DialectEvent = EventTable & { readonly event: HookEvent };

/** Values from which a dialect builds the environment variables of a hook. */
interface DialectEnvironment {
  readonly workspaceDir: string;
  readonly sessionId: string;
  /** Prefix of the variable names of this application. */
  readonly prefix: string;
}

/** Rules for the hooks of one program, with every unknown fact on its safe side. */
export interface Dialect {
  readonly id: HookDialect;
  readonly table: HookTable;
  /**
   * Events by their name in this dialect. If several names map to one event, a hook without `dialectEvent` gets the
   * first name.
   */
  readonly events: Readonly<Record<string, DialectEvent>>;
  /** Names of all events of the program, also of those that do not exist here. */
  readonly eventNames: readonly string[];
  readonly places: { readonly user: readonly string[]; readonly workspace: readonly string[] };
  readonly hasComments: boolean;
  /** True if hook files contain tool names of another program. */
  readonly hasForeignTools: boolean;
  /** Variables of the workspace and of the extension package, and variables with a fixed value. */
  readonly folders: {
    readonly project: readonly string[];
    readonly extension: readonly string[];
    readonly fixed: Readonly<Record<string, string>>;
  };
  readonly worksIn: 'extension' | 'workspace';
  readonly refusedAnswer: 'withheld' | 'continued';
  readonly matchesSources: boolean;
  readonly readsTranscripts: boolean;
  readonly runsOnce: boolean;
  /** Returns the name of a tool in this dialect. Not called for tools in `toolNames`. */
  toolName(name: string): string;
  /** Returns the name of an MCP tool of a plugin, from the name of the plugin and `server__tool`. */
  pluginTool(plugin: string, tool: string): string;
  /** Returns the names of such a tool that matchers may use. */
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

/** Creates the rules for the hooks of a program from its table. */
function createDialect(id: HookDialect, table: HookTable): Dialect {
  const isNative = id === 'native';
  const all = known(table.events, {});
  const variables = known(table.variables, { workspace: [], package: [] });
  const answer = known(table.answer, { fields: {}, refusal: { '*': 'cancel' } });
  const events = Object.entries(all).filter((entry): entry is [string, DialectEvent] => entry[1].event !== undefined);
  const tools = known(table.tools, {});
  const mcpTool = known(table.mcpTool, 'mcp__<server>__<tool>');
  const nameOf = (name: string) => mcpName(mcpTool, /^mcp__(.+?)__(.*)$/.exec(name)) ?? name;
  const input = known(table.input, {});
  return {
    id,
    table,
    events: Object.fromEntries(events),
    eventNames: Object.keys(all),
    places: known(table.files, { user: [], workspace: [] }),
    hasComments: known(table.form, { comments: true }).comments === true,
    hasForeignTools: !isNative,
    folders: { project: variables.workspace, extension: variables.package, fixed: variables.fixed ?? {} },
    worksIn: known(table.startsIn, 'workspace') === 'package' ? 'extension' : 'workspace',
    refusedAnswer: known(table.refusedAnswer, 'withheld'),
    matchesSources: known(table.matchesSources, false),
    readsTranscripts: known(table.readsTranscripts, false),
    runsOnce: known(table.runsOnce, false),
    toolName: nameOf,
    pluginTool: (plugin, tool) =>
      table.pluginTool === 'unknown' ? nameOf(`mcp__${tool}`) : pluginName(table.pluginTool.value, plugin, tool),
    // If the name is not known, that of Claude Code also counts, so that a guard matches rather than not.
    pluginNames: (plugin, tool) => [
      `mcp__${tool}`,
      pluginName(known(table.pluginTool, CLAUDE_PLUGIN_TOOL), plugin, tool),
    ],
    aliases: (name) => (Object.hasOwn(tools, name) ? (tools[name]?.aliases ?? []) : []),
    parse: isNative ? parseNativeHooks : (document, source) => parseEvents(document, source, table),
    input: isNative
      ? () => ({})
      : (source) => inputFields({ ...input, ...namedEvent(all, source.hook)?.input }, source, tools),
    variables: (hook, environment) =>
      isNative ? ownVariables(hook, environment) : sessionVariables(variables.session ?? [], environment.sessionId),
    detaches: answer.detaches ? isAsyncNotice : undefined,
    read: isNative ? readNative : (run) => readAnswer(run, table),
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

const CLAUDE_PLUGIN_TOOL = 'mcp__plugin_<plugin>_<server>__<tool>';

function pluginName(template: string, plugin: string, tool: string): string {
  return (
    mcpName(
      template.replace('<plugin>', () => plugin),
      /^(.+?)__(.*)$/.exec(tool),
    ) ?? `mcp__${tool}`
  );
}

const LONGEST_ID = 4_096;

/** Leaves out an id, which may come from a client, that is too long or contains NUL. The input always has it. */
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
