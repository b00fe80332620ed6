import { readFile } from 'node:fs/promises';
import { misspeltHooks } from '../internal/options/misspelt-hooks.js';
import { cloneData } from '../internal/plain-data.js';
import { HOOK_NAMES, HOOKS, pluginFromObject, validatePlugin } from './check-plugin.js';
import { PluginInvalidError } from './error.js';
import { defaultOf, type ModuleExports } from './import-module.js';
import { factoriesOf, isServerModule, type OpencodeSource, opencodePlugins } from './opencode/opencode.js';
import type { Plugin, PluginEntry } from './plugin.js';

/**
 * The plugins of a module. Throws a PluginInvalidError, or what a factory throws. Each factory is called once, so what a
 * module was written for is told before.
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
    const advice = 'if it was taken for the wrong kind, name its `format` in its entry';
    throw new PluginInvalidError([...error.problems, exported === undefined ? 'it has no default export' : advice]);
  }
}

type Options = PluginEntry['options'];

/** What a factory returns, an object of a class, or the export itself. */
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

/** A class, also one that was compiled to a function with methods. */
function isClass(exported: { readonly prototype?: object }): boolean {
  const methods = Object.getOwnPropertyNames(exported.prototype ?? {}).filter((name) => name !== 'constructor');
  return methods.length > 0 || /^class\b/.test(Function.prototype.toString.call(exported));
}

/** Hooks of opencode, the events that most listen to, and the package that its plugins have their types from. */
const OPENCODE =
  /@opencode-ai\/plugin|(['"`])(?:tool\.execute\.(?:before|after)|tool\.definition|chat\.(?:message|params|headers)|experimental\.(?:chat|session)\.[\w.]+|session\.(?:created|error|idle|status)|permission\.ask|shell\.env)\1/;

/** As its entry says; else by its exports, and for a default that is a function by what the text of its module names. */
async function isForOpencode(exported: unknown, { entry: { format }, path }: OpencodeSource): Promise<boolean> {
  if (format !== undefined) return format === 'opencode';
  if (typeof exported !== 'function') return exported === undefined || isServerModule(exported);
  if (isClass(exported)) return false;
  return OPENCODE.test(await readFile(path, 'utf8').catch(() => ''));
}
