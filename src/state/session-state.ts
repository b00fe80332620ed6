import { ScopeState, type StateValue } from './scope-state.js';
import { entryBytes, MAX_SCOPE_KEYS } from './state-key.js';
import type { StateChange, StateEntry, StatePeek, StatePolicy, StateStats, StateView } from './state-store.js';

/** The current time, and the policy for the value that is read or written. */
export interface StateUse {
  readonly now: number;
  readonly policy: StatePolicy;
}

/**
 * The state of all extensions in one session. Has no clock: the caller passes the time to each method that needs it.
 */
export class SessionState {
  /** The time at which the session expires with all its values, in milliseconds since the epoch. */
  end = Number.POSITIVE_INFINITY;
  private readonly scopes: Map<string, ScopeState> = new Map();

  get isEmpty(): boolean {
    return this.scopes.size === 0;
  }

  get(extension: string, key: string, use: StateUse): string | undefined {
    this.purge(use.now);
    const value = this.scopes.get(extension)?.get(key);
    if (value === undefined) return undefined;
    this.put(extension, { ...value, usedAt: use.now, ttlMs: ttlOf(use.policy) });
    this.touch(use);
    return value.text;
  }

  set(extension: string, { key, value: text, ifValue }: StateEntry, use: StateUse): StateChange {
    this.purge(use.now);
    const { policy, now } = use;
    const bytes = entryBytes(key, text);
    const before = this.bytes;
    if (ifValue !== undefined && (this.peek(extension, key)?.text ?? null) !== ifValue) {
      return { stored: false, conflict: true, evicted: [], bytesBefore: before, bytesAfter: before };
    }
    const others = before - (this.scopes.get(extension)?.bytes ?? 0);
    const limit = Math.min(policy.extensionBytes, policy.sessionBytes - others);
    if (bytes > limit) return { stored: false, evicted: [], bytesBefore: before, bytesAfter: before };

    const scope = this.scopeOf(extension);
    scope.remove(key);
    const evicted = scope.shrink({ bytes: limit - bytes, keys: MAX_SCOPE_KEYS - 1 });
    this.put(extension, { key, text, bytes, usedAt: now, ttlMs: ttlOf(policy) });
    this.touch(use);
    return { stored: true, evicted, bytesBefore: before, bytesAfter: this.bytes };
  }

  /** Restarts the lifetime of the session. */
  touch({ now, policy }: StateUse): void {
    this.end = now + policy.sessionTtlMs;
  }

  /**
   * Removes the value of a key, all values of an extension, or, without arguments, all values. Returns the number of
   * removed values.
   */
  clear(extension?: string, key?: string): number {
    const before = this.size;
    if (extension === undefined) this.scopes.clear();
    else if (key === undefined) this.scopes.delete(extension);
    else this.remove(extension, key);
    return before - this.size;
  }

  /** Removes expired values. */
  purge(now: number): void {
    if (now >= this.end) this.scopes.clear();
    for (const [extension, scope] of this.scopes) {
      scope.purge(now);
      if (scope.size === 0) this.scopes.delete(extension);
    }
  }

  stats(): StateStats {
    const extensions = [...this.scopes].map(([extension, scope]) => [extension, scope.bytes] as const);
    return { bytes: this.bytes, extensions: Object.fromEntries(extensions) };
  }

  /**
   * Returns the most recently used values of each extension, up to `extensionBytes` per extension. Does not restart any
   * lifetime.
   */
  view({ extensions, extensionBytes }: StatePeek): StateView {
    const values: StateView['values'][number][] = [];
    const complete: string[] = [];
    for (const extension of extensions) {
      let room = extensionBytes;
      const latest = [...(this.scopes.get(extension)?.list() ?? [])].reverse();
      const tooMuch = latest.findIndex(({ bytes }) => {
        room -= bytes;
        return room < 0;
      });
      if (tooMuch === -1) complete.push(extension);
      const shown = tooMuch === -1 ? latest : latest.slice(0, tooMuch);
      values.push(...shown.map(({ key, text }) => ({ extension, key, value: text })));
    }
    return { ...this.stats(), values, complete };
  }

  /** Adds a value as the most recently used one of its extension, without checking limits. */
  put(extension: string, value: StateValue): void {
    this.scopeOf(extension).put(value);
  }

  /** Returns a value without restarting its lifetime. */
  peek(extension: string, key: string): StateValue | undefined {
    return this.scopes.get(extension)?.get(key);
  }

  /** Yields every value with its extension. Within an extension, the least recently used value is first. */
  *list(): Generator<readonly [extension: string, value: StateValue]> {
    for (const [extension, scope] of this.scopes) for (const value of scope.list()) yield [extension, value];
  }

  private get bytes(): number {
    let sum = 0;
    for (const scope of this.scopes.values()) sum += scope.bytes;
    return sum;
  }

  private get size(): number {
    let sum = 0;
    for (const scope of this.scopes.values()) sum += scope.size;
    return sum;
  }

  private remove(extension: string, key: string): void {
    const scope = this.scopes.get(extension);
    scope?.remove(key);
    if (scope?.size === 0) this.scopes.delete(extension);
  }

  private scopeOf(extension: string): ScopeState {
    let scope = this.scopes.get(extension);
    if (scope === undefined) {
      scope = new ScopeState();
      this.scopes.set(extension, scope);
    }
    return scope;
  }
}

function ttlOf({ ttlMs, sessionTtlMs }: StatePolicy): number {
  return ttlMs >= sessionTtlMs ? Number.POSITIVE_INFINITY : ttlMs;
}
