interface Shared {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const sharedListeners = new WeakMap<AbortSignal, Shared>();

/**
 * Calls `callback` when the signal aborts, unless the returned function was called before. All callbacks of one signal
 * share one listener, because Node warns about a leak at eleven listeners. If the signal has aborted, nothing is called.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal === undefined || signal.aborted) return () => {};
  const { callbacks, listener } = sharedListeners.get(signal) ?? listen(signal);
  // A new function for each call, so that the same callback can be added twice.
  const entry = () => callback();
  callbacks.add(entry);
  return () => {
    if (!callbacks.delete(entry) || callbacks.size > 0) return;
    signal.removeEventListener('abort', listener);
    sharedListeners.delete(signal);
  };
}

function listen(signal: AbortSignal): Shared {
  const callbacks = new Set<() => void>();
  const listener = () => {
    for (const callback of [...callbacks]) callback();
  };
  const shared = { callbacks, listener };
  sharedListeners.set(signal, shared);
  signal.addEventListener('abort', listener, { once: true });
  return shared;
}
