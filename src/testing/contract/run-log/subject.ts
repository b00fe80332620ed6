import type { JsonValue } from '../../../internal/json.js';
import type { Awaitable } from '../../../internal/promise.js';
import type { LoggedEvent, RunLog } from '../../../state/run-log/run-log.js';

/** The log that a case tests. */
export interface RunLogSubject {
  readonly log: RunLog;
  readonly maxBytes: number;
  pass(ms: number): Promise<void>;
  /** Opens the same data as another process does. */
  reopen(): Awaitable<RunLog>;
}

/** A log whose runs expire after `ttlMs`. */
export interface RunLogExpirySubject extends RunLogSubject {
  readonly ttlMs: number;
}

export const LONG_MS = 60_000;

/** Makes `count` different events, from the given number on. */
export function numbered(from: number, count: number): JsonValue[] {
  return Array.from({ length: count }, (_, at) => ({ type: 'text-delta', text: `${from + at}` }));
}

export function logged(from: number, events: readonly JsonValue[]): LoggedEvent[] {
  return events.map((event, at) => ({ offset: from + at, event }));
}
