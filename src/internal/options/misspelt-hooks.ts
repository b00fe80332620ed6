import { fold } from '../fold.js';
import { nearestName } from './nearest-name.js';

/** The hooks that an object may have, and the names that other libraries have for them, without case and underscores. */
export interface HookNames {
  readonly hooks: readonly string[];
  readonly foreign: readonly (readonly [hook: string, names: RegExp])[];
}

/**
 * Finds the functions of an object, inherited ones too, that were most likely meant as a hook, and says so. A class may
 * have functions of its own: one that begins with an underscore is never taken for a hook.
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

/** The message for a name that is at most two edits away from a hook's, or foreign. Case and underscores do not count. */
export function misspeltHook(name: string, { hooks, foreign }: HookNames): string | undefined {
  if (hooks.includes(name)) return undefined;
  const meant = nearestName(name, hooks, 2) ?? foreign.find(([, names]) => names.test(fold(name)))?.[0];
  return meant && `unknown member \`${name}\`; did you mean \`${meant}\`?`;
}
