/** Listeners that are grouped by a key, such as the id of a session. */
export class KeyedListeners {
  private readonly listeners = new Map<string, Set<() => void>>();

  /**
   * Calls `onUse` with true when a key gets its first listener, and with false when the key loses its last one. A store
   * can then subscribe only to keys in use.
   */
  constructor(private readonly onUse: (key: string, isUsed: boolean) => void = () => {}) {}

  call(key: string): void {
    for (const call of this.listeners.get(key) ?? []) call();
  }

  /** Adds a listener for a key. Returns a function that removes the listener. */
  add(key: string, listener: () => void): () => void {
    // A function that is added twice counts as two listeners.
    const call = () => listener();
    const listeners = this.listeners.get(key) ?? new Set();
    this.listeners.set(key, listeners.add(call));
    if (listeners.size === 1) this.onUse(key, true);
    return () => {
      if (!listeners.delete(call) || listeners.size > 0) return;
      this.listeners.delete(key);
      this.onUse(key, false);
    };
  }
}
