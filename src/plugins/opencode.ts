import { parse } from 'node:path';
import { defaultOf, type ModuleExports } from './import-module.js';
import { type OpencodeHost, opencodeContext } from './opencode-context.js';
import { type OpencodeTool, opencodeTools } from './opencode-tool.js';
import type { Plugin, PluginEntry } from './plugin.js';
import { PluginLoadError } from './plugin-error.js';
import { adaptPlugin, type PluginPart } from './plugin-part.js';

interface OpencodeCall {
  readonly tool: string;
  readonly sessionID: string;
  readonly callID: string;
}

/** The hooks of a plugin for opencode that are called here. */
interface OpencodeHooks {
  readonly 'tool.execute.before'?: (input: OpencodeCall, output: { args: unknown }) => unknown;
  readonly 'tool.execute.after'?: (
    input: OpencodeCall & { readonly args: unknown },
    output: { title: string; output: string; metadata: unknown },
  ) => unknown;
  readonly tool?: Readonly<Record<string, OpencodeTool>>;
  readonly dispose?: () => void;
}

type OpencodeFactory = (context: object, options?: Record<string, unknown>) => unknown;

const CALLED = ['tool.execute.before', 'tool.execute.after', 'tool', 'dispose'];
const KNOWN =
  /^(event|config|auth|provider|shell\.env|tool\.definition|(chat|permission|command|experimental|desktop)\..+)$/;

/**
 * Whether a module is one for opencode: it exports functions by name and no default, or its default by a name as well,
 * or `{ server }`. An entry may say so itself.
 */
export function isOpencodeModule(exports: ModuleExports, { format }: PluginEntry): boolean {
  if (format !== undefined) return format === 'opencode';
  const exported = defaultOf(exports);
  if (exported === undefined) return factoriesOf(exports).length > 0;
  if (typeof exported === 'function') return factoriesOf(exports).some(({ name }) => name !== 'default');
  return typeof (exported as { server?: unknown } | null)?.server === 'function';
}

/** Makes each plugin of the module. Throws where one of them gives anything but hooks for opencode. */
export async function opencodePlugins(
  exports: ModuleExports,
  from: { readonly path: string; readonly host: OpencodeHost; readonly options: Record<string, unknown> | undefined },
): Promise<Plugin[]> {
  const { path, host, options } = from;
  const factories = factoriesOf(exports);
  if (factories.length === 0) throw new PluginLoadError(path, 'it exports no function');
  const plugins: Plugin[] = [];
  for (const { name, factory } of factories) {
    const hooks = await factory(opencodeContext(host), options);
    const problem = problemOf(hooks);
    if (problem !== undefined) {
      throw new PluginLoadError(
        path,
        `it has no default export that is a plugin, and its export "${name}" gives ${problem}`,
      );
    }
    plugins.push(await adapt(`${parse(path).name}/${name}`, hooks as OpencodeHooks, host));
  }
  return plugins;
}

/** The functions that a module exports, each once. A second name for the default counts. */
function factoriesOf(exports: ModuleExports): { readonly name: string; readonly factory: OpencodeFactory }[] {
  const exported = defaultOf(exports) as { server?: OpencodeFactory } | undefined;
  const named = Object.entries(exports).filter(([name]) => name !== 'default' && name !== 'module.exports');
  const all = [...named, ['server', exported?.server] as const];
  const seen = new Map<OpencodeFactory, string>();
  const add = (name: string, value: unknown) => {
    if (typeof value === 'function' && !seen.has(value as OpencodeFactory)) seen.set(value as OpencodeFactory, name);
  };
  const isTwin = named.some(([, value]) => value === exported);
  if (typeof exported === 'function' && !isTwin) add('default', exported);
  for (const [name, value] of all) add(name, value);
  return [...seen].map(([factory, name]) => ({ name, factory }));
}

function problemOf(hooks: unknown): string | undefined {
  if (typeof hooks !== 'object' || hooks === null) return `${hooks === null ? 'null' : typeof hooks}, not hooks`;
  const strange = Object.keys(hooks).filter((key) => !CALLED.includes(key) && !KNOWN.test(key));
  if (strange.length > 0) return `\`${strange.join('`, `')}\`, which opencode does not know`;
  const wrong = CALLED.filter((key) => key !== 'tool' && !isMaybeFunction((hooks as ModuleExports)[key]));
  return wrong.length > 0 ? `\`${wrong.join('`, `')}\` that is no function` : undefined;
}

function isMaybeFunction(value: unknown): boolean {
  return value === undefined || typeof value === 'function';
}

async function adapt(name: string, hooks: OpencodeHooks, host: OpencodeHost): Promise<Plugin> {
  const idle = Object.keys(hooks).filter((key) => !CALLED.includes(key));
  if (idle.length > 0)
    host.logger.warn(`Plugin "${name}" has opencode hooks that are never called here: ${idle.join(', ')}.`);
  const tools = await opencodeTools(hooks.tool ?? {}, { plugin: name, workspaceDir: host.workspaceDir });
  const part: PluginPart = {
    name,
    tools,
    onShutdown: hooks.dispose && (() => hooks.dispose?.()),
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
