import { parse, relative, sep } from 'node:path';
import { logFailure } from '../../internal/logger.js';
import { cloneData } from '../../internal/plain-data.js';
import { PluginInvalidError } from '../error.js';
import { defaultOf, type ModuleExports } from '../import-module.js';
import type { Plugin, PluginEntry } from '../plugin.js';
import { type OpencodeHost, opencodeContext } from './context.js';
import { adaptHooks, type OpencodeHooks, problemOfHooks } from './hooks.js';

type OpencodeFactory = (context: object, options?: Record<string, unknown>) => unknown;

interface OpencodeExport {
  readonly name: string;
  readonly factory: OpencodeFactory;
}

/** An opencode module with its entry and host. */
export interface OpencodeSource {
  readonly path: string;
  readonly packageName?: string | undefined;
  readonly host: OpencodeHost;
  readonly entry: PluginEntry;
  /** The file paths of the plugins loaded so far, by plugin name. */
  readonly owners: ReadonlyMap<string, string>;
}

/** True if a module exports its plugin as `{ server }`. */
export function isServerModule(exported: unknown): exported is { server: OpencodeFactory; id?: unknown } {
  return typeof exported === 'object' && typeof (exported as { server?: unknown } | null)?.server === 'function';
}

/**
 * Lists the factories that opencode would call: the `server` of the default export if it has one, else each exported
 * function once.
 */
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
 * Creates each plugin of the module. An export that returns a primitive value is skipped, as in opencode. Throws a
 * PluginInvalidError if there is no plugin, or if a plugin has hooks that opencode does not know. The plugins created
 * before the error are disposed of.
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
    host.logger.warn(`Exports of ${path} that are not plugins for opencode are skipped: ${others.join('; ')}.`);
  return plugins;
}

async function disposeOf(made: readonly unknown[], { logger }: OpencodeHost): Promise<void> {
  for (const hooks of made.toReversed()) {
    try {
      await (hooks as OpencodeHooks | undefined | null)?.dispose?.();
    } catch (error) {
      logFailure({ logger }, '`dispose` of a refused plugin for opencode failed.', error);
    }
  }
}

/**
 * Returns a unique plugin name. The name of the directory is added for a file called `index`, and if the name is
 * already taken.
 */
function nameOf(name: string, { path, packageName, host, owners }: OpencodeSource): string {
  if (packageName !== undefined) return `${packageName}/${name}`.slice(-128);
  const { dir, name: base } = parse(path);
  const owner = owners.get(`${base}/${name}`) ?? path;
  const file = base === 'index' || owner !== path ? `${relative(host.workspaceDir, dir)}${sep}${base}` : base;
  return `${file.replaceAll(sep, '/')}/${name}`.slice(-128);
}
