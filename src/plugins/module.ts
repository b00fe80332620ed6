import { readFile } from 'node:fs/promises';
import { cloneData } from '../internal/plain-data.js';
import { validatePlugin } from './check-plugin.js';
import { PluginInvalidError } from './error.js';
import { defaultOf, type ModuleExports } from './import-module.js';
import { factoriesOf, isServerModule, type OpencodeSource, opencodePlugins } from './opencode/opencode.js';
import type { Plugin } from './plugin.js';

/**
 * The plugins of a module. Throws a PluginInvalidError, or what a factory throws. Each factory is called once, so what a
 * module was written for is told before.
 */
export async function pluginsOf(exports: ModuleExports, from: OpencodeSource): Promise<Plugin[]> {
  const exported = await defaultOf(exports);
  try {
    if (await isForOpencode(exported, from)) return await opencodePlugins(factoriesOf(exports), from);
    const plugin: unknown = typeof exported === 'function' ? await exported(cloneData(from.entry.options)) : exported;
    validatePlugin(plugin);
    return [plugin];
  } catch (error) {
    if (!(error instanceof PluginInvalidError) || from.entry.format !== undefined) throw error;
    const advice = 'if it was taken for the wrong kind, name its `format` in its entry';
    throw new PluginInvalidError([...error.problems, exported === undefined ? 'it has no default export' : advice]);
  }
}

/** Hooks of opencode, the events that most listen to, and the package that its plugins have their types from. */
const OPENCODE =
  /@opencode-ai\/plugin|(['"`])(?:tool\.execute\.(?:before|after)|tool\.definition|chat\.(?:message|params|headers)|experimental\.(?:chat|session)\.[\w.]+|session\.(?:created|error|idle|status)|permission\.ask|shell\.env)\1/;

/** As its entry says; else by its exports, and for a default that is a function by what the text of its module names. */
async function isForOpencode(exported: unknown, { entry: { format }, path }: OpencodeSource): Promise<boolean> {
  if (format !== undefined) return format === 'opencode';
  if (typeof exported !== 'function') return exported === undefined || isServerModule(exported);
  return OPENCODE.test(await readFile(path, 'utf8').catch(() => ''));
}
