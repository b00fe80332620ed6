/** An abort signal that counts its listeners. */
export interface CountedSignal {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  /** Returns the number of listeners that are still registered. */
  listeners(): number;
}

type ListenerMethod = (type: string, listener: unknown, options?: unknown) => void;

/** Creates an abort signal that counts its listeners, to detect listeners that are never removed. */
export function createCountedSignal(): CountedSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const added = new Map<unknown, { readonly once: boolean }>();
  const add = signal.addEventListener.bind(signal) as ListenerMethod;
  const remove = signal.removeEventListener.bind(signal) as ListenerMethod;
  signal.addEventListener = (type: string, listener: unknown, options?: { readonly once?: boolean } | boolean) => {
    added.set(listener, { once: typeof options === 'object' && options.once === true });
    add(type, listener, options);
  };
  signal.removeEventListener = (type: string, listener: unknown, options?: unknown) => {
    added.delete(listener);
    remove(type, listener, options);
  };
  add('abort', () => {
    for (const [listener, { once }] of added) if (once) added.delete(listener);
  });
  return { signal, abort: (reason) => controller.abort(reason), listeners: () => added.size };
}
