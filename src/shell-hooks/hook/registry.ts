import type { Awaitable } from '../../internal/promise.js';
import { HOOK_EVENTS, type HookEvent } from '../../programs/hook-event.js';
import type { HookRegistration, ShellHook } from './definition.js';
import { numberedHooks } from './identity.js';
import { resolveHook } from './resolve-hook.js';

/** Limits which hooks `unregister` removes. */
export interface HookFilter {
  readonly event?: HookEvent | undefined;
  /** Name of the extension package. */
  readonly extension?: string | undefined;
}

/**
 * Registered hooks by event, in order of registration. May change while sessions are open. A hook that was removed does
 * not start again.
 *
 * @example
 * const registry = new HookRegistry();
 * registry.register({ event: 'before_tool', name: 'guard', command: './guard.sh' });
 */
export class HookRegistry {
  private readonly byEvent = new Map<HookEvent, readonly ShellHook[]>();
  private readonly listeners = new Set<() => Awaitable<void>>();
  private following: Promise<unknown> = Promise.resolve();
  private count = 0;

  /** Adds a hook. Throws a `HookInvalidError` if the hook is invalid. */
  register(hook: HookRegistration): ShellHook {
    const checked = resolveHook(hook, `#${this.count + 1}`);
    this.count += 1;
    const before = this.hooksOf(checked.event);
    const [resolved = checked] = numberedHooks([checked], { replaced: NONE, others: before });
    this.byEvent.set(resolved.event, [...before, resolved]);
    this.announce();
    return resolved;
  }

  /** Removes the hook with this id, or else all hooks with this name. Returns the number of removed hooks. */
  unregister(nameOrId: string, { event, extension }: HookFilter = {}): number {
    const key = this.list().some(({ id }) => id === nameOrId) ? 'id' : 'name';
    const matches = (hook: ShellHook) =>
      hook[key] === nameOrId &&
      (event === undefined || hook.event === event) &&
      (extension === undefined || hook.extension === extension);
    return this.remove(matches);
  }

  /** Removes all hooks of an extension package. Returns their number. */
  unregisterExtension(extension: string): number {
    return this.remove((hook) => hook.extension === extension);
  }

  /**
   * Removes all hooks, including hooks that other code registered. Returns the number of removed hooks. `reload` of the
   * loader registers the hooks of files again.
   */
  clear(): number {
    return this.remove(() => true);
  }

  /**
   * Replaces the hooks with these ids in one step, and returns the new hooks. A new hook with the same content as a
   * replaced hook keeps its id. Throws a `HookInvalidError` and changes nothing if a hook is invalid.
   */
  replace(ids: readonly string[], hooks: readonly HookRegistration[]): readonly ShellHook[] {
    const replaced = this.list().filter(({ id }) => ids.includes(id));
    const checked = hooks.map((hook, at) => resolveHook(hook, `#${this.count + at + 1}`));
    this.count += checked.length;
    const others = this.list().filter((hook) => !replaced.includes(hook));
    const wanted = numberedHooks(checked, { replaced, others });
    const placed = HOOK_EVENTS.flatMap((event) => {
      const before = this.hooksOf(event);
      const own = wanted.filter((hook) => hook.event === event);
      const after = putInPlace(before, replaced, own);
      const isChanged = after.length !== before.length || after.some((hook, at) => hook !== before[at]);
      if (isChanged) this.byEvent.set(event, after);
      return isChanged ? [event] : [];
    });
    if (placed.length > 0) this.announce();
    const ours = new Set(wanted.map(({ id }) => id));
    return this.list().filter(({ id }) => ours.has(id));
  }

  /** Returns the hooks of one event. The array is never modified; a change of the registry creates a new array. */
  hooksOf(event: HookEvent): readonly ShellHook[] {
    return this.byEvent.get(event) ?? NONE;
  }

  /** Returns all hooks, grouped by event. */
  list(): readonly ShellHook[] {
    return [...this.byEvent.values()].flat();
  }

  /** Calls `listener` after every change, until the returned function is called. A returned promise must not reject. */
  onChange(listener: () => Awaitable<void>): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Resolves when the listeners have finished the work that earlier changes have started. */
  async settled(): Promise<void> {
    await this.following;
  }

  private remove(matches: (hook: ShellHook) => boolean): number {
    let removed = 0;
    for (const [event, hooks] of this.byEvent) {
      const kept = hooks.filter((hook) => !matches(hook));
      removed += hooks.length - kept.length;
      this.byEvent.set(event, kept);
    }
    if (removed > 0) this.announce();
    return removed;
  }

  private announce(): void {
    for (const listener of [...this.listeners]) {
      const earlier = this.following;
      this.following = Promise.resolve(listener()).then(() => earlier);
    }
  }
}

/**
 * Inserts the new hooks at the first replaced hook. Hooks without an extension also go before all hooks of extensions,
 * as if they had been registered first.
 */
function putInPlace(
  before: readonly ShellHook[],
  replaced: readonly ShellHook[],
  wanted: readonly ShellHook[],
): readonly ShellHook[] {
  const isOfExtension = wanted.some(({ extension }) => extension !== undefined);
  const first = before.findIndex((hook) => replaced.includes(hook) || (!isOfExtension && hook.extension !== undefined));
  const [front, back] = [before.slice(0, first < 0 ? before.length : first), first < 0 ? [] : before.slice(first)];
  const others = back.filter((hook) => !replaced.includes(hook));
  return [...front, ...wanted, ...others];
}

const NONE: readonly ShellHook[] = Object.freeze([]);
