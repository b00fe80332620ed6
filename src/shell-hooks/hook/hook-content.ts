import type { ComparedItem } from '../../internal/changes.js';
import type { ShellHook } from './definition.js';

/** Returns a string that is equal for hooks with the same definition and origin. Ignores `id` and `ordinal`. */
export function contentOf({ id: _id, ordinal: _ordinal, ...hook }: ShellHook): string {
  return JSON.stringify(hook);
}

/** Returns the identity and content of a hook, for comparison with a hook of an earlier load. */
export function comparedHook(hook: ShellHook): ComparedItem {
  const { name, event, source, extension, dialectEvent } = hook;
  return { name, identity: JSON.stringify([name, event, source, extension, dialectEvent]), content: contentOf(hook) };
}
