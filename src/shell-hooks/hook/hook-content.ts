import type { ComparedItem } from '../../internal/changes.js';
import type { ShellHook } from './definition.js';

/** Returns a string that is equal for two hooks that were read from one definition. */
export function contentOf({ id: _id, ordinal: _ordinal, ...hook }: ShellHook): string {
  return JSON.stringify(hook);
}

/** A hook as it is compared with the hooks of another reading. */
export function comparedHook(hook: ShellHook): ComparedItem {
  const { name, event, source, extension, dialectEvent } = hook;
  return { name, identity: JSON.stringify([name, event, source, extension, dialectEvent]), content: contentOf(hook) };
}
