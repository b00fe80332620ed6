import { readFile } from 'node:fs/promises';
import { describeError } from '../errors.js';
import { cloneData } from '../internal/plain-data.js';
import { validatePlugin } from './check-plugin.js';
import { PluginInvalidError } from './error.js';
import { defaultOf, type ModuleExports } from './import-module.js';
import {
  disposeOf,
  factoriesOf,
  isServerModule,
  type OpencodeExport,
  type OpencodeSource,
  opencodePlugins,
} from './opencode/opencode.js';
import type { Plugin, PluginEntry } from './plugin.js';

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
  if (format === 'plugin' || typeof exported !== 'function') return [await pluginOf(exported, from)];
  const factory = exported as OpencodeExport['factory'];
  return pluginsOfFactory(
    factoriesOf(exports).find((it) => it.factory === factory) ?? { name: 'default', factory },
    from,
  );
}

/** Hooks of opencode, the events that most listen to, and the package that its plugins have their types from. */
const OPENCODE =
  /@opencode-ai\/plugin|(['"`])(?:tool\.execute\.(?:before|after)|tool\.definition|chat\.(?:message|params|headers)|experimental\.(?:chat|session)\.[\w.]+|session\.(?:created|error|idle|status)|permission\.ask|shell\.env)\1/;

/** A factory may do something each time it is called: so what the text of its module tells is tried first. */
async function namesOpencode(path: string): Promise<boolean> {
  return OPENCODE.test(await readFile(path, 'utf8').catch(() => ''));
}

/** A default that made no plugin may make one for opencode, and the other way round: it is given something else. */
async function pluginsOfFactory(made: OpencodeExport, from: ModuleSource): Promise<Plugin[]> {
  const isNamed = await namesOpencode(from.path);
  const asOpencode = () => opencodePlugins([{ ...made, isGuess: !isNamed }], from);
  const asPlugin = async () => [await pluginOf(made.factory, from)];
  const [first, second] = isNamed ? [asOpencode, asPlugin] : [asPlugin, asOpencode];
  try {
    return await first();
  } catch (error) {
    return await second().catch((also) => {
      const [said, saidByOpencode] = (isNamed ? [also, error] : [error, also]).map(problemsIn);
      if (`${said}` === `${saidByOpencode}`) throw error;
      throw new PluginInvalidError([...(said ?? []), `as one for opencode: ${saidByOpencode?.join('; ')}`]);
    });
  }
}

async function pluginOf(exported: unknown, { entry, host }: ModuleSource): Promise<Plugin> {
  const value: unknown = typeof exported === 'function' ? await exported(cloneData(entry.options)) : exported;
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

function problemsIn(error: unknown): readonly string[] {
  return error instanceof PluginInvalidError ? error.problems : [describeError(error)];
}
