/** Listeners by key. */
export class KeyedListeners {
  private readonly listeners = new Map<string, Set<() => void>>();

  call(key: string): void {
    for (const listener of this.listeners.get(key) ?? []) listener();
  }

  /** Returns a function that removes the listener. */
  add(key: string, listener: () => void): () => void {
    const listeners = this.listeners.get(key) ?? new Set();
    this.listeners.set(key, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.listeners.delete(key);
    };
  }
}
