import { parse, relative, sep } from 'node:path';
import { logFailure } from '../../internal/logger.js';
import { cloneData } from '../../internal/plain-data.js';
import { PluginInvalidError } from '../error.js';
import { defaultOf, type ModuleExports } from '../import-module.js';
import type { Plugin, PluginEntry } from '../plugin.js';
import { type OpencodeHost, opencodeContext } from './context.js';
import { adaptHooks, type OpencodeHooks, problemOfHooks } from './hooks.js';

type OpencodeFactory = (context: object, options?: Record<string, unknown>) => unknown;

/** What a module for opencode exports under a name, or as its server. */
interface OpencodeExport {
  readonly name: string;
  readonly factory: OpencodeFactory;
}

/** Where a module for opencode comes from. */
export interface OpencodeSource {
  readonly path: string;
  readonly packageName?: string | undefined;
  readonly host: OpencodeHost;
  readonly entry: PluginEntry;
  /** The files of the plugins that there are, by name. */
  readonly owners: ReadonlyMap<string, string>;
}

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
 * Makes each plugin of the module. An export that gives no object is passed over, as opencode does. Throws if there is no
 * plugin at all, and if one has hooks that opencode does not know: those that were made by then are disposed of.
 */
export async function opencodePlugins(exports: readonly OpencodeExport[], from: OpencodeSource): Promise<Plugin[]> {
  const { path, host, entry } = from;
  const made: unknown[] = [];
  const plugins: Plugin[] = [];
  const others: string[] = [];
  try {
    for (const { name, factory } of exports) {
      const hooks: unknown = await factory(opencodeContext(host), cloneData(entry.options));
      made.push(hooks);
      const problem = problemOfHooks(hooks);
      if (problem === undefined) plugins.push(await adaptHooks(nameOf(name, from), hooks as OpencodeHooks, host));
      else if (Object(hooks) === hooks) throw new PluginInvalidError([`its export "${name}" ${problem}`]);
      else others.push(`its export "${name}" ${problem}`);
    }
  } catch (error) {
    await disposeOf(made, host);
    throw error;
  }
  if (plugins.length === 0) throw new PluginInvalidError(others.length === 0 ? ['it exports no function'] : others);
  if (others.length > 0)
    host.logger.warn(`What is no plugin for opencode in ${path} is passed over: ${others.join('; ')}.`);
  return plugins;
}

/** Ends what plugins that are not taken have begun, the last first. */
async function disposeOf(made: readonly unknown[], { logger }: OpencodeHost): Promise<void> {
  for (const hooks of made.toReversed()) {
    try {
      await (hooks as OpencodeHooks | undefined | null)?.dispose?.();
    } catch (error) {
      logFailure({ logger }, 'A plugin for opencode that was refused failed to end.', error);
    }
  }
}

/** Many modules are called `index`, or as another is: the path tells those apart. */
function nameOf(name: string, { path, packageName, host, owners }: OpencodeSource): string {
  if (packageName !== undefined) return `${packageName}/${name}`.slice(-128);
  const { dir, name: base } = parse(path);
  const owner = owners.get(`${base}/${name}`) ?? path;
  const file = base === 'index' || owner !== path ? `${relative(host.workspaceDir, dir)}${sep}${base}` : base;
  return `${file.replaceAll(sep, '/')}/${name}`.slice(-128);
}
