import { type Clock, systemClock } from '../../internal/clock.js';
import { type JsonValue, toJson } from '../../internal/json.js';
import { numberRule, whole } from '../../internal/options/rules.js';
import { invalidOption, validateOption } from '../../internal/options/validate.js';
import type { Awaitable } from '../../internal/promise.js';
import { RunLogGoneError, type RunLogPage, type RunLogQuery, type RunOutcome } from './run-log.js';

/** The state of a log in a store, with its events from the requested offset on as JSON. */
interface FoundRunLog {
  /** The offset of the oldest event that the log still has. */
  readonly first: number;
  readonly end: number;
  readonly outcome: RunOutcome | undefined;
  readonly bodies: readonly string[];
}

/** The functions with which `readRunLog` reads a log from a store and waits for new events. */
export interface RunLogSource {
  look(limit: number): Awaitable<FoundRunLog | undefined>;
  /**
   * Calls the listener after each new event. Returns a function that removes the listener. Without `watch`, the log is
   * read at intervals.
   */
  watch?: ((listener: () => void) => () => void) | undefined;
  /** Milliseconds between two reads while a reader waits for new events. */
  readonly pollMs: number;
  readonly clock?: Clock;
}

/** Reads one page of a run's log. If the log has no new event, waits for one up to `waitMs`. */
export async function readRunLog(
  run: string,
  { from, limit = 1_000, waitMs = 0, signal }: RunLogQuery & { readonly from: number },
  { look, watch, pollMs, clock = systemClock }: RunLogSource,
): Promise<RunLogPage | undefined> {
  checkOffset('from', from);
  validateOption('limit', limit, whole(1));
  validateOption('waitMs', waitMs, numberRule('0 milliseconds or more', 0));
  const end = clock.now() + waitMs;
  let wake = () => {};
  const call = () => wake();
  let unwatch: (() => void) | undefined;
  signal?.addEventListener('abort', call);
  try {
    for (;;) {
      // A notification during the read counts too.
      const news = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const found = await look(limit);
      const page = found && pageOf(run, from, found);
      const left = end - clock.now();
      if (page?.events.length !== 0 || page.outcome || left <= 0 || signal?.aborted) return page;
      if (watch !== undefined && unwatch === undefined) {
        // Reads once more, because an event may have come before the watch began.
        unwatch = watch(call);
        continue;
      }
      const timer = clock.setTimeout(call, Math.min(left, pollMs));
      await news;
      clock.clearTimeout(timer);
    }
  } finally {
    unwatch?.();
    signal?.removeEventListener('abort', call);
  }
}

function pageOf(run: string, from: number, { first, end, outcome, bodies }: FoundRunLog): RunLogPage {
  if (from < first) throw new RunLogGoneError(run, from, first);
  const events = bodies.map((body, at) => ({ offset: from + at, event: JSON.parse(body) }));
  return { events, end, ...(from + events.length >= end && outcome && { outcome }) };
}

/**
 * Returns the JSON of each event. Throws an OptionInvalidError if an event is not JSON, or if the offset is invalid.
 */
export function encodeEvents(first: number, events: readonly JsonValue[]): string[] {
  checkOffset('first', first);
  return events.map((event, at) => {
    let json: string | undefined;
    try {
      json = toJson(event);
    } catch {
      // The check below refuses such an event.
    }
    if (json === undefined) throw invalidOption(`events[${at}]`, 'a value that JSON can represent', event);
    return json;
  });
}

function checkOffset(name: string, offset: number): void {
  validateOption(name, offset, whole(0));
}
