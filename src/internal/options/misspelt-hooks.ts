import { fold } from '../names-text.js';
import { isPlainObject } from '../plain-data.js';
import { nearestName } from './nearest-name.js';
import { unknownName } from './validate.js';

/**
 * The valid hook names, and the names that other libraries use for them, as patterns without case and punctuation. A
 * pattern for a hook that Keelson does not have maps to undefined.
 */
export interface HookNames {
  readonly hooks: readonly string[];
  readonly foreign: readonly (readonly [hook: string | undefined, names: RegExp])[];
}

/**
 * Returns a message for each member of an object literal that is not in `known`. A class instance may have other members,
 * so only its misspelt hooks are reported.
 */
export function unknownMembers(value: object, names: HookNames, known: readonly string[]): string[] {
  if (!isPlainObject(value)) return misspeltHooks(value, names);
  const unknown = Object.keys(value).filter((key) => !known.includes(key));
  return unknown.map((key) => misspeltHook(key, names) ?? unknownName('member', key, known));
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
function misspeltHook(name: string, { hooks, foreign }: HookNames): string | undefined {
  if (hooks.includes(name)) return undefined;
  const known = foreign.find(([, names]) => names.test(fold(name)));
  const nearest = known === undefined ? nearestName(name, hooks, 2) : known[0];
  if (nearest !== undefined) return `unknown member \`${name}\`; did you mean \`${nearest}\`?`;
  return known && `unknown member \`${name}\`; no hook here stands for it, known are ${hooks.join(', ')}`;
}
