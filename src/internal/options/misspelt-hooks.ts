import { fold } from '../fold.js';
import { nearestName } from './nearest-name.js';

/** The valid hook names, and patterns of names that other libraries use for them. Patterns match folded names. */
export interface HookNames {
  readonly hooks: readonly string[];
  readonly foreign: readonly (readonly [hook: string, names: RegExp])[];
}

/**
 * Returns a message for each function of an object, own or inherited, whose name looks like a misspelt hook. Names that
 * begin with an underscore are ignored.
 */
export function misspeltHooks(value: object, names: HookNames): string[] {
  const found = new Set<string>();
  for (let level = value; level !== Object.prototype && level !== null; level = Object.getPrototypeOf(level)) {
    for (const [key, { value: member }] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      const problem = typeof member === 'function' && key[0] !== '_' ? misspeltHook(key, names) : undefined;
      if (problem !== undefined) found.add(problem);
    }
  }
  return [...found];
}

/**
 * Returns a message if the name is within two edits of a hook name, or is another library's name for a hook.
 * Ignores case and underscores.
 */
export function misspeltHook(name: string, { hooks, foreign }: HookNames): string | undefined {
  if (hooks.includes(name)) return undefined;
  const meant = nearestName(name, hooks, 2) ?? foreign.find(([, names]) => names.test(fold(name)))?.[0];
  return meant && `unknown member \`${name}\`; did you mean \`${meant}\`?`;
}
