import type { Clock } from '../../internal/clock.js';

/** Waits for `ms` milliseconds. Resolves early when the signal fires. */
export function pauseFor(
  ms: number,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clock.clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.setTimeout(end, ms);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}
