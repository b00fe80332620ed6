import { parse, relative, sep } from 'node:path';
import { copyData } from './copy-data.js';
import { defaultOf, type ModuleExports } from './import-module.js';
import { type OpencodeHost, opencodeContext } from './opencode-context.js';
import { type OpencodeRunHooks, opencodeRunHooks } from './opencode-run.js';
import { type OpencodeTool, opencodeTools } from './opencode-tool.js';
import type { Plugin, PluginEntry } from './plugin.js';
import { logFailure } from './plugin-call.js';
import { PluginInvalidError } from './plugin-error.js';
import { adaptPlugin, type PluginPart } from './plugin-part.js';

interface OpencodeCall {
  readonly tool: string;
  readonly sessionID: string;
  readonly callID: string;
}

/** The hooks of a plugin for opencode that are called here. */
interface OpencodeHooks extends OpencodeRunHooks {
  readonly 'tool.execute.before'?: (input: OpencodeCall, output: { args: unknown }) => unknown;
  readonly 'tool.execute.after'?: (
    input: OpencodeCall & { readonly args: unknown },
    output: { title: string; output: string; metadata: unknown },
  ) => unknown;
  readonly tool?: Readonly<Record<string, OpencodeTool>>;
  readonly dispose?: () => void;
}

type OpencodeFactory = (context: object, options?: Record<string, unknown>) => unknown;

/** What a module for opencode exports under a name, or as its server. */
export interface OpencodeExport {
  readonly name: string;
  readonly factory: OpencodeFactory;
  /** Nothing but what it gives tells that it is one for opencode. */
  readonly isGuess?: boolean;
}

/** Where a module for opencode comes from. */
export interface OpencodeSource {
  readonly path: string;
  readonly host: OpencodeHost;
  readonly entry: PluginEntry;
  /** The files of the plugins that there are, by name. */
  readonly owners: ReadonlyMap<string, string>;
}

const CALLED = [
  ...['tool.execute.before', 'tool.execute.after', 'tool', 'dispose'],
  ...['event', 'chat.message', 'experimental.chat.system.transform'],
];

/** Hooks and events of opencode that there are not here, and those to come. Nobody takes a misspelt gate for one of them. */
const IDLE = /^(config|auth|provider|tool\.definition|(?!tool\.)[a-z_]+(\.[\w-]+)+)$/;

/** Whether a module exports its plugin as `{ server }`. */
export function isServerModule(exported: unknown): exported is { server: OpencodeFactory; id?: unknown } {
  return typeof exported === 'object' && typeof (exported as { server?: unknown } | null)?.server === 'function';
}

/** The functions that opencode would call: its server, where the default names one, else all, each once. */
export function factoriesOf(exports: ModuleExports): readonly OpencodeExport[] {
  const exported = defaultOf(exports);
  if (isServerModule(exported)) {
    return [{ name: typeof exported.id === 'string' ? exported.id : 'server', factory: exported.server }];
  }
  const named = Object.entries(exports).filter(([name]) => name !== 'default' && name !== 'module.exports');
  const names = new Map<unknown, string>();
  for (const [name, value] of [...named, ['default', exported] as const]) {
    const factory = isServerModule(value) ? value.server : value;
    if (typeof factory === 'function' && !names.has(factory)) names.set(factory, name);
  }
  return [...names].map(([factory, name]) => ({ name, factory: factory as OpencodeFactory }));
}

/**
 * Makes each plugin of the module. What else it exports is passed over, as opencode does. Throws where there is no plugin
 * at all, and where one has hooks that opencode does not know: those that were made by then are disposed of.
 */
export async function opencodePlugins(exports: readonly OpencodeExport[], from: OpencodeSource): Promise<Plugin[]> {
  const made: unknown[] = [];
  try {
    return await makePlugins(exports, { ...from, made });
  } catch (error) {
    await disposeOf(made, from.host);
    throw error;
  }
}

/** Ends what plugins that are not taken have begun, the last first. */
export async function disposeOf(made: readonly unknown[], { logger }: OpencodeHost): Promise<void> {
  for (const hooks of made.toReversed()) {
    try {
      await (hooks as OpencodeHooks | undefined | null)?.dispose?.();
    } catch (error) {
      logFailure({ logger }, 'A plugin for opencode that was refused failed to end.', error);
    }
  }
}

async function makePlugins(exports: readonly OpencodeExport[], from: OpencodeSource & { readonly made: unknown[] }) {
  const { path, host, entry, made } = from;
  const plugins: Plugin[] = [];
  const others: string[] = [];
  for (const { name, factory, isGuess = false } of exports) {
    const hooks: unknown = await factory(opencodeContext(host), copyData(entry.options));
    made.push(hooks);
    const problem = problemOf(hooks, isGuess);
    if (problem === undefined) plugins.push(await adapt(nameOf(name, from), hooks as OpencodeHooks, host));
    else if (typeof hooks === 'object' && hooks !== null)
      throw new PluginInvalidError([`its export "${name}" ${problem}`]);
    else others.push(`its export "${name}" ${problem}`);
  }
  if (plugins.length === 0) throw new PluginInvalidError(others.length === 0 ? ['it exports no function'] : others);
  if (others.length > 0)
    host.logger.warn(`What is no plugin for opencode in ${path} is passed over: ${others.join('; ')}.`);
  return plugins;
}

/** Many modules are called `index`, or as another is: the path tells those apart. */
function nameOf(name: string, { path, host, owners }: OpencodeSource): string {
  const { dir, name: base } = parse(path);
  const owner = owners.get(`${base}/${name}`) ?? path;
  const file = base === 'index' || owner !== path ? `${relative(host.workspaceDir, dir)}${sep}${base}` : base;
  return `${file.replaceAll(sep, '/')}/${name}`.slice(-128);
}

function problemOf(hooks: unknown, isGuess: boolean): string | undefined {
  if (typeof hooks !== 'object' || hooks === null) return `gives ${hooks === null ? 'null' : typeof hooks}, not hooks`;
  const unknown = Object.keys(hooks).filter((key) => !isKnown(key));
  const hasHooks = unknown.length < Object.keys(hooks).length;
  // Beside hooks, a text or a number, such as the plugin's name, guards nothing.
  const strange = unknown.filter((key) => !hasHooks || /function|object/.test(typeof (hooks as ModuleExports)[key]));
  if (strange.length > 0) return `gives \`${strange.join('`, `')}\`, which opencode does not know`;
  const wrong = CALLED.filter((key) => key !== 'tool' && !isMaybeFunction((hooks as ModuleExports)[key]));
  if (wrong.length > 0) return `gives \`${wrong.join('`, `')}\` that is no function`;
  return isGuess && !hasHooks ? 'gives no hooks' : undefined;
}

function isKnown(key: string): boolean {
  return CALLED.includes(key) || IDLE.test(key);
}

function isMaybeFunction(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}

async function adapt(name: string, hooks: OpencodeHooks, host: OpencodeHost): Promise<Plugin> {
  const idle = Object.keys(hooks).filter((key) => isKnown(key) && !CALLED.includes(key));
  if (idle.length > 0)
    host.logger.warn(`Plugin "${name}" has opencode hooks that are never called here: ${idle.join(', ')}.`);
  const tools = await opencodeTools(hooks.tool ?? {}, { plugin: name, workspaceDir: host.workspaceDir });
  const part: PluginPart = {
    name,
    tools,
    onShutdown: hooks.dispose && (() => hooks.dispose?.()),
    runHooks: (timeoutMs) => opencodeRunHooks({ name, hooks, host, timeoutMs }),
    beforeTool:
      hooks['tool.execute.before'] &&
      (async ({ name: tool, input, sessionId: sessionID, callId: callID }) => {
        const output = { args: input as unknown };
        await hooks['tool.execute.before']?.({ tool, sessionID, callID }, output);
        return { name: tool, input: output.args };
      }),
    afterTool:
      hooks['tool.execute.after'] &&
      (async ({ name: tool, input: args, sessionId: sessionID, callId: callID }, result) => {
        const output = { title: tool, output: result.content, metadata: {} };
        await hooks['tool.execute.after']?.({ tool, sessionID, callID, args }, output);
        return { ...result, content: output.output };
      }),
  };
  return adaptPlugin({ name, description: 'A plugin for opencode.' }, part);
}
