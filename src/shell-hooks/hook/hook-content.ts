import type { ShellHook } from './definition.js';

/** Returns a string that is equal for two hooks that were read from one definition. */
export function contentOf({ id: _id, ordinal: _ordinal, ...hook }: ShellHook): string {
  return JSON.stringify(hook);
}
