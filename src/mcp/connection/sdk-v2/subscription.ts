import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../../../internal/clock.js';
import { pauseFor } from '../../transport/time-limits.js';

/** Pauses in milliseconds before a subscription is opened again. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
const ACKNOWLEDGE_MS = 60_000;

interface Following {
  readonly clock: Clock;
  readonly closed: AbortSignal;
  readonly onChange: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Subscribes to changes of the tools. Subscribes again when a subscription has ended. Resolves when the connection
 * ends, or when the server refuses a subscription.
 */
export async function followTools(client: Client, { clock, closed, onChange, onError }: Following): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  while (!closed.aborted) {
    const began = clock.now();
    try {
      const subscription = await client.listen({ toolsListChanged: true }, { timeout: ACKNOWLEDGE_MS });
      await subscription.closed;
      if (clock.now() - began >= LONGEST_PAUSE_MS) pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      if (closed.aborted) return;
      onError(error);
      if (isRefusal(error)) return;
    }
    await pauseFor(pauseMs, { clock, signal: closed });
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    // Without a subscription, the server announced no changes, so the tools may have changed.
    if (!closed.aborted) onChange();
  }
}

/**
 * True if the server refused the subscription, so that another attempt is useless. An error of the protocol has a
 * number as its code, and an HTTP error has a status.
 */
function isRefusal(error: unknown): boolean {
  const { code, status = 500 } = error as { readonly code?: unknown; readonly status?: number };
  return typeof code === 'number' || status < 500;
}
