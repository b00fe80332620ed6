import { ScopeState, type StateValue } from './scope-state.js';
import { MAX_SCOPE_KEYS, utf8Bytes } from './state-key.js';
import type { StateChange, StateEntry, StatePolicy, StateStats } from './state-store.js';

/** The moment of a use, and the policy that it is under. */
export interface StateUse {
  readonly now: number;
  readonly policy: StatePolicy;
}

/** The state of all extensions in one session, and the rules for it. Knows no clock: what has a moment is given it. */
export class SessionState {
  /** When all of it expires. */
  end = Number.POSITIVE_INFINITY;
  /** Nothing expires before it, but for the end of the session. */
  private dueAt = Number.POSITIVE_INFINITY;
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

  set(extension: string, { key, value: text }: StateEntry, use: StateUse): StateChange {
    this.purge(use.now);
    const { policy, now } = use;
    const bytes = utf8Bytes(text);
    const before = this.bytes;
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

  /** The session was active. */
  touch({ now, policy }: StateUse): void {
    this.end = now + policy.sessionTtlMs;
  }

  /** Removes one value, those of an extension, or all. Returns how many there were. */
  clear(extension?: string, key?: string): number {
    const before = this.size;
    if (extension === undefined) this.scopes.clear();
    else if (key === undefined) this.scopes.delete(extension);
    else this.remove(extension, key);
    return before - this.size;
  }

  /** Removes what has expired. */
  purge(now: number): void {
    if (now >= this.end) this.scopes.clear();
    if (now < this.dueAt) return;
    this.dueAt = Number.POSITIVE_INFINITY;
    for (const [extension, scope] of this.scopes) {
      scope.purge(now);
      if (scope.size === 0) this.scopes.delete(extension);
      this.dueAt = Math.min(this.dueAt, scope.dueAt);
    }
  }

  stats(): StateStats {
    const extensions = [...this.scopes].map(([extension, scope]) => [extension, scope.bytes] as const);
    return { bytes: this.bytes, extensions: Object.fromEntries(extensions) };
  }

  /** Puts a value last in the order of its extension, without a look at any limit. */
  put(extension: string, value: StateValue): void {
    this.scopeOf(extension).put(value);
    this.dueAt = Math.min(this.dueAt, value.usedAt + value.ttlMs);
  }

  /** The value as it is, without using it. */
  peek(extension: string, key: string): StateValue | undefined {
    return this.scopes.get(extension)?.get(key);
  }

  /** Every value with its extension; those of one extension longest unused first. */
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
