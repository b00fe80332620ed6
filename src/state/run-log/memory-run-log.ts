import { type Clock, MAX_TIMER_MS, systemClock } from '../../internal/clock.js';
import type { JsonValue } from '../../internal/json.js';
import { clock } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { KeyedListeners } from '../keyed-listeners.js';
import { utf8Bytes } from '../state-key.js';
import { type RunLogLimits, resolveRunLogLimits, runLogLimitRules } from './limits.js';
import { encodeEvents, readRunLog } from './read-run-log.js';
import type { RunLog, RunLogAnswer, RunLogPage, RunLogQuery, RunOutcome } from './run-log.js';

/** Options of a MemoryRunLog. */
export interface MemoryRunLogOptions extends RunLogLimits {
  /** The clock that decides when a log expires. Default: the system clock. */
  readonly clock?: Clock | undefined;
}

const rules = { ...runLogLimitRules, clock } satisfies OptionTable<MemoryRunLogOptions>;

/** The log of one run in memory. */
interface StoredRunLog {
  /** The offset of the oldest event that the log still has. */
  first: number;
  /** The events that the log still has, as JSON, oldest first. */
  readonly bodies: string[];
  bytes: number;
  outcome: RunOutcome | undefined;
  watchedAt: number;
  endsAt: number;
}

/**
 * Stores the events of runs in the memory of this process, for readers in the same process. Expired logs are freed by
 * later calls, without a timer.
 *
 * @example
 * const log = new MemoryRunLog();
 * log.append('run-1', 0, [{ type: 'text-delta', text: 'Ahoy' }]);
 * const page = await log.read('run-1', 0);
 */
export class MemoryRunLog implements RunLog {
  private readonly clock: Clock;
  private readonly limits: ReturnType<typeof resolveRunLogLimits>;
  /** The log of each run. The log that expires first comes first. */
  private readonly logs = new Map<string, StoredRunLog>();
  private readonly listeners = new KeyedListeners();

  constructor(options: MemoryRunLogOptions = {}) {
    validateOptions(options, rules);
    this.clock = options.clock ?? systemClock;
    this.limits = resolveRunLogLimits(options);
  }

  append(run: string, first: number, events: readonly JsonValue[]): RunLogAnswer {
    const bodies = encodeEvents(first, events);
    const now = this.sweep();
    const log = this.logs.get(run) ?? (first === 0 ? newLog(now) : undefined);
    if (log === undefined) return { appended: false, end: 0, unwatchedMs: 0 };
    const { outcome } = log;
    const appended = accepts(log, first, bodies);
    if (appended && outcome === undefined) {
      this.add(log, bodies.slice(endOf(log) - first));
      this.keep(run, log, now);
    }
    return { appended, end: endOf(log), unwatchedMs: now - log.watchedAt, ...(outcome && { outcome }) };
  }

  read(run: string, from: number, query?: RunLogQuery): Promise<RunLogPage | undefined> {
    const look = (limit: number) => {
      this.sweep();
      const log = this.logs.get(run);
      if (log === undefined) return undefined;
      const { first, outcome, bodies } = log;
      const start = Math.max(0, from - first);
      return { first, end: endOf(log), outcome, bodies: bodies.slice(start, start + limit) };
    };
    const watch = (listener: () => void) => this.listeners.add(run, listener);
    return readRunLog(run, { ...query, from }, { look, watch, pollMs: MAX_TIMER_MS, clock: this.clock });
  }

  touch(run: string): void {
    const now = this.sweep();
    const log = this.logs.get(run);
    if (log !== undefined) log.watchedAt = now;
  }

  close(run: string, outcome: RunOutcome): RunOutcome {
    const now = this.sweep();
    const log = this.logs.get(run) ?? newLog(now);
    if (log.outcome !== undefined) return log.outcome;
    log.outcome = outcome;
    this.keep(run, log, now);
    return outcome;
  }

  delete(run: string): void {
    this.logs.delete(run);
    this.listeners.call(run);
  }

  private add(log: StoredRunLog, bodies: readonly string[]): void {
    for (const body of bodies) {
      log.bodies.push(body);
      log.bytes += utf8Bytes(body);
    }
    let gone = 0;
    for (; log.bytes > this.limits.maxBytes && gone < log.bodies.length - 1; gone += 1) {
      log.bytes -= utf8Bytes(log.bodies[gone] ?? '');
    }
    log.bodies.splice(0, gone);
    log.first += gone;
  }

  /** Restarts the lifetime of a log, and notifies its readers of the change. */
  private keep(run: string, log: StoredRunLog, now: number): void {
    log.endsAt = now + this.limits.ttlMs;
    this.logs.delete(run);
    this.logs.set(run, log);
    this.listeners.call(run);
  }

  /** Removes expired logs. Returns the current time. */
  private sweep(): number {
    const now = this.clock.now();
    for (const [run, { endsAt }] of this.logs) {
      if (endsAt > now) break;
      this.logs.delete(run);
    }
    return now;
  }
}

function newLog(now: number): StoredRunLog {
  return { first: 0, bodies: [], bytes: 0, outcome: undefined, watchedAt: now, endsAt: now };
}

function endOf({ first, bodies }: StoredRunLog): number {
  return first + bodies.length;
}

/**
 * True if an append fits the log: its events follow the last event, or repeat the events in the log exactly. False if
 * all repeated events are deleted, because nothing can be compared then.
 */
function accepts(log: StoredRunLog, first: number, bodies: readonly string[]): boolean {
  const known = Math.min(endOf(log) - first, bodies.length);
  if (known < 0 || (known < bodies.length && log.outcome !== undefined)) return false;
  if (known > 0 && first + known <= log.first) return false;
  return bodies.slice(0, known).every((body, at) => {
    const kept = log.bodies[first + at - log.first];
    return kept === undefined || kept === body;
  });
}
