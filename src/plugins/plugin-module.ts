import { describeError } from '../errors.js';
import { validatePlugin } from './check-plugin.js';
import { copyData } from './copy-data.js';
import { defaultOf, type ModuleExports } from './import-module.js';
import {
  disposeOf,
  factoriesOf,
  isServerModule,
  type OpencodeExport,
  type OpencodeSource,
  opencodePlugins,
} from './opencode.js';
import type { Plugin, PluginEntry } from './plugin.js';
import { PluginInvalidError } from './plugin-error.js';

interface ModuleSource extends OpencodeSource {
  readonly entry: PluginEntry;
}

/**
 * The plugins of a module. Unless its entry says what it was written for, that is told from its exports: without a
 * default, and with one that is `{ server }`, it is for opencode. A default that is a function makes a plugin, or else one
 * for opencode; what is exported beside it is not called. Throws PluginInvalidError, or what a factory throws.
 */
export async function pluginsOf(exports: ModuleExports, from: ModuleSource): Promise<Plugin[]> {
  const { format } = from.entry;
  if (format === 'opencode') return opencodePlugins(factoriesOf(exports), from);
  const exported = await defaultOf(exports);
  if (format === undefined && exported === undefined) return pluginsWithoutDefault(exports, from);
  if (format === undefined && isServerModule(exported)) return opencodePlugins(factoriesOf(exports), from);
  try {
    return [await pluginOf(exported, from)];
  } catch (error) {
    if (format === 'plugin' || typeof exported !== 'function') throw error;
    const factory = factoriesOf(exports).find((it) => it.factory === exported);
    return pluginsOfDefault({ factory, error }, from);
  }
}

async function pluginOf(exported: unknown, { entry, host }: ModuleSource): Promise<Plugin> {
  const value: unknown = typeof exported === 'function' ? await exported(copyData(entry.options)) : exported;
  try {
    validatePlugin(value);
  } catch (error) {
    // It may be for opencode, and is made once more then.
    if (typeof exported === 'function') await disposeOf([value], host);
    throw error;
  }
  return value;
}

async function pluginsWithoutDefault(exports: ModuleExports, from: ModuleSource): Promise<Plugin[]> {
  const factories = factoriesOf(exports);
  try {
    return await opencodePlugins(factories, from);
  } catch (error) {
    if (factories.length === 0) throw new PluginInvalidError(['it has no default export']);
    throw new PluginInvalidError(['it has no default export', ...problemsIn(error)]);
  }
}

/** A default that made no plugin may make one for opencode: that is given something else. */
async function pluginsOfDefault({ factory, error }: Failed, from: ModuleSource): Promise<Plugin[]> {
  try {
    return await opencodePlugins(factory === undefined ? [] : [{ ...factory, isGuess: true }], from);
  } catch (second) {
    const [said, alsoSaid] = [problemsIn(error), problemsIn(second)];
    if (`${said}` === `${alsoSaid}`) throw error;
    throw new PluginInvalidError([...said, `as one for opencode: ${alsoSaid.join('; ')}`]);
  }
}

interface Failed {
  readonly factory: OpencodeExport | undefined;
  readonly error: unknown;
}

function problemsIn(error: unknown): readonly string[] {
  return error instanceof PluginInvalidError ? error.problems : [describeError(error)];
}
