import { readFile } from 'node:fs/promises';
import { misspeltHooks } from '../internal/options/misspelt-hooks.js';
import { cloneData } from '../internal/plain-data.js';
import { HOOK_NAMES, HOOKS, pluginFromObject, validatePlugin } from './check-plugin.js';
import { PluginInvalidError } from './error.js';
import { defaultOf, type ModuleExports } from './import-module.js';
import { factoriesOf, isServerModule, type OpencodeSource, opencodePlugins } from './opencode/opencode.js';
import type { Plugin, PluginEntry } from './plugin.js';

/**
 * Creates the plugins of a module. Throws a PluginInvalidError, or the error of a factory. The kind of the module is
 * detected before any factory runs, so that each factory runs only once.
 */
export async function pluginsOf(exports: ModuleExports, from: OpencodeSource): Promise<Plugin[]> {
  const exported = await defaultOf(exports);
  try {
    if (await isForOpencode(exported, from)) return await opencodePlugins(factoriesOf(exports), from);
    const plugin = pluginFromObject(await makePlugin(exported, cloneData(from.entry.options)));
    validatePlugin(plugin);
    return [plugin];
  } catch (error) {
    if (!(error instanceof PluginInvalidError) || from.entry.format !== undefined) throw error;
    const advice =
      'set `format` of its entry if the module is a plugin for opencode (`opencode`) or for Keelson (`plugin`)';
    throw new PluginInvalidError([...error.problems, exported === undefined ? 'it has no default export' : advice]);
  }
}

type Options = PluginEntry['options'];

/** Returns the return value of a factory, an instance of a class, or the export itself. */
async function makePlugin(exported: unknown, options: Options): Promise<unknown> {
  if (typeof exported !== 'function') return exported;
  if (!isClass(exported)) return await exported(options);
  const made = Reflect.construct(exported, [options]) as Partial<Plugin>;
  if (made.hooks !== undefined || made.tools !== undefined || HOOKS.some((hook) => hook in made)) return made;
  const hooks = misspeltHooks(made, HOOK_NAMES)
    .concat(`hooks are ${HOOKS.join(', ')}`)
    .join('; ');
  throw new PluginInvalidError([`the class "${exported.name}" has no tools and no method that is a hook: ${hooks}`]);
}

/** True for a class, including a class compiled to a function with prototype methods. */
function isClass(exported: { readonly prototype?: object }): boolean {
  const methods = Object.getOwnPropertyNames(exported.prototype ?? {}).filter((name) => name !== 'constructor');
  return methods.length > 0 || /^class\b/.test(Function.prototype.toString.call(exported));
}

/** Matches names of opencode hooks, common opencode events, and the package that its plugins import types from. */
const OPENCODE =
  /@opencode-ai\/plugin|(['"`])(?:tool\.execute\.(?:before|after)|tool\.definition|chat\.(?:message|params|headers)|experimental\.(?:chat|session)\.[\w.]+|session\.(?:created|error|idle|status)|permission\.ask|shell\.env)\1/;

/**
 * Returns true if the module exports plugins for opencode. The `format` of the entry decides if it is set, otherwise
 * the export. For a default function, the names in the module's source decide.
 */
async function isForOpencode(exported: unknown, { entry: { format }, path }: OpencodeSource): Promise<boolean> {
  if (format !== undefined) return format === 'opencode';
  if (typeof exported !== 'function') return exported === undefined || isServerModule(exported);
  if (isClass(exported)) return false;
  return OPENCODE.test(await readFile(path, 'utf8').catch(() => ''));
}
