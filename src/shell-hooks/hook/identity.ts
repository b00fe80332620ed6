import type { ComparedItem } from '../../internal/changes.js';
import type { ShellHook } from './definition.js';

/**
 * Returns a string that is equal for hooks with the same definition and origin. Ignores `id`, `ordinal` and the
 * compiled members.
 */
export function contentOf({ id: _id, ordinal: _ordinal, pattern: _pattern, ...hook }: ShellHook): string {
  return JSON.stringify(hook);
}

/** Returns the identity and content of a hook, for comparison with a hook of an earlier load. */
export function comparedHook(hook: ShellHook): ComparedItem {
  const { name, event, source, extension, dialectEvent } = hook;
  return { name, identity: JSON.stringify([name, event, source, extension, dialectEvent]), content: contentOf(hook) };
}

/** Hooks in a registry when new hooks are added. */
export interface PresentHooks {
  /** Hooks that the new hooks replace. */
  readonly replaced: readonly ShellHook[];
  /** Hooks that stay. */
  readonly others: readonly ShellHook[];
}

/**
 * Returns the hooks to store in a registry. A hook with the same content as a replaced hook becomes that hook again,
 * and every other hook gets the lowest free `ordinal`. An approval contains the ordinal, so each load must give the
 * same one.
 */
export function numberedHooks(wanted: readonly ShellHook[], { replaced, others }: PresentHooks): readonly ShellHook[] {
  const free = [...replaced];
  const hooks = wanted.map((hook) => takeSame(free, hook) ?? hook);
  const settled = [...others, ...hooks.filter((hook) => replaced.includes(hook))];
  return hooks.map((hook) => {
    if (replaced.includes(hook)) return hook;
    const numbered = { ...hook, ordinal: ordinalOf(hook, settled) };
    settled.push(numbered);
    return numbered;
  });
}

function takeSame(hooks: ShellHook[], wanted: ShellHook): ShellHook | undefined {
  const content = contentOf(wanted);
  const at = hooks.findIndex((hook) => contentOf(hook) === content);
  return at < 0 ? undefined : hooks.splice(at, 1)[0];
}

/** Returns the lowest number that no hook with the same event, name and origin has. */
function ordinalOf({ event, name, source, extension }: ShellHook, hooks: readonly ShellHook[]): number {
  const namesakes = hooks.filter(
    (hook) => hook.event === event && hook.name === name && hook.source === source && hook.extension === extension,
  );
  const taken = new Set(namesakes.map(({ ordinal }) => ordinal));
  let ordinal = 1;
  while (taken.has(ordinal)) ordinal += 1;
  return ordinal;
}
