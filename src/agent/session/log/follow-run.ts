import { sleep } from '../../../internal/clock.js';
import { boolean, whole } from '../../../internal/options/rules.js';
import { invalidOption, type OptionTable, validateOptions } from '../../../internal/options/validate.js';
import type { Awaitable } from '../../../internal/promise.js';
import { Stop } from '../../../internal/stop.js';
import { RunAbortedError } from '../../../lifecycle/run-failure.js';
import {
  type RunLog,
  RunLogGoneError,
  type RunLogPage,
  type RunOutcome,
  TOUCH_MS,
} from '../../../state/run-log/run-log.js';
import type { AgentEvent } from '../../agent-event.js';
import type { RunResult } from '../../run-result.js';
import { EventStream, type RunStream, type StreamConsumer } from '../../run-stream.js';
import { SessionLostError } from '../session-error.js';
import { stopCall } from '../stop/stop-call.js';
import type { StoredSession } from '../stored-session.js';
import { eventFromJson } from './event-json.js';

/** Milliseconds that a reader waits for events before it checks that the run is still active. */
const LOOK_MS = 1_000;
/** Milliseconds that a reader waits for the first event of a run. */
const BEGIN_MS = 100;

/** Options of `session.attach`. */
export interface AttachOptions {
  /** The offset of the first event. The first event of a run has the offset 0. Default: 0. */
  readonly from?: number | undefined;
  /** True also yields the events of nested runs, if the run was streamed with `nested: true`. Default: false. */
  readonly nested?: boolean | undefined;
}

const attachRules = { from: whole(0), nested: boolean } satisfies OptionTable<AttachOptions>;

/** A run that a reader follows. */
interface Following {
  readonly log: RunLog;
  readonly runId: string;
  /** The offset of the first event. */
  readonly from: number;
  readonly nested?: boolean | undefined;
  /** Stopped when the agent of the reader is closed. The run itself continues. */
  readonly stop: Stop;
}

type Reading = Following & Pick<StreamConsumer, 'sink'>;

/** Follows the run that holds the conversation. Returns undefined if no run is active. */
export async function attachTo(
  session: StoredSession,
  stop: Stop,
  options: AttachOptions,
): Promise<RunStream<unknown> | undefined> {
  validateOptions(options, attachRules);
  const { runLog: log } = session.options;
  if (log === undefined) throw invalidOption('runLog', 'a run log in the options of the session', undefined);
  const runId = await session.running();
  const { from = 0, nested } = options;
  return runId === undefined ? undefined : streamOf(session, { log, runId, from, nested, stop });
}

/** Returns a stream of the events of a run, from an offset to the end of its log. */
export function streamOf(session: StoredSession, following: Following): RunStream<unknown> {
  return new EventStream((consumer) => followRun(session, following, consumer));
}

/**
 * Reads the log of a run from an offset to its end. Returns the result of the run, with an empty `history`.
 *
 * If the run is no longer active but its log is open, such as after a crash, closes the log and throws a
 * SessionLostError.
 */
async function followRun(
  session: StoredSession,
  following: Following,
  { sink, left, onStart }: StreamConsumer,
): Promise<RunResult<unknown>> {
  onStart({ cancel: (path, reason) => stopCall(session, { path, reason }) });
  const stop = new Stop();
  stop.follow(left, (reason) => stop.stop(new RunAbortedError(reason)));
  stop.followStop(following.stop);
  try {
    return await readToEnd(session, { ...following, sink, stop });
  } finally {
    stop.release();
  }
}

async function readToEnd(session: StoredSession, follow: Reading): Promise<RunResult<unknown>> {
  const { clock } = session.agent.defaults;
  const { log, runId, sink, stop } = follow;
  const end = new RunEnd(session.id, follow);
  let next = follow.from;
  let touchAt = clock.now();
  let isLost = false;
  for (;;) {
    if (clock.now() >= touchAt) {
      touchAt += TOUCH_MS;
      await log.touch(runId);
    }
    const page = await log.read(runId, next, { waitMs: LOOK_MS, signal: stop.signal });
    if (stop.stopped) throw end.fail(stop.reason);
    for (const { offset, event: json } of page?.events ?? []) {
      next = offset + 1;
      const event = eventFromJson(json);
      if (event === undefined) continue;
      if (event.runId === runId) end.see(event);
      if (event.runId === runId || follow.nested) sink(event);
    }
    if (page?.outcome !== undefined) return end.settle();
    if (page === undefined) await sleep(BEGIN_MS, clock);
    else if (page.events.length > 0) continue;
    // A run releases the conversation shortly before it closes its log. So read the log once more before the run counts
    // as lost.
    if (isLost) await log.close(runId, 'lost');
    isLost = (await session.running()) !== runId;
  }
}

/**
 * Waits until a run has ended, without reading its events. Does not count as a reader, so it does not keep a run with
 * `orphanMs` alive.
 *
 * Throws the reason of `stop` if it stops first.
 */
export async function endOfRun(
  session: StoredSession,
  { log, runId, stop }: Omit<Following, 'from'>,
): Promise<RunOutcome> {
  const { clock } = session.agent.defaults;
  let end = 0;
  let isLost = false;
  for (;;) {
    const query = { limit: 1, waitMs: LOOK_MS, signal: stop.signal };
    const page = await endAfter(() => log.read(runId, end, query));
    if (stop.stopped) throw stop.reason;
    if (page?.outcome !== undefined) return page.outcome;
    end = page?.end ?? end;
    if (page === undefined) await sleep(BEGIN_MS, clock);
    if (isLost) return log.close(runId, 'lost');
    isLost = (await session.running()) !== runId;
  }
}

/**
 * Reads a page of the log. If the log no longer has its events, returns only the offset of the first event that is
 * left.
 */
async function endAfter(read: () => Awaitable<RunLogPage | undefined>): Promise<Partial<RunLogPage> | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof RunLogGoneError) return { end: error.first };
    throw error;
  }
}

/** The outcome of a run, according to its events. */
class RunEnd {
  private error: unknown;
  private result: RunResult<unknown> | undefined;

  constructor(
    private readonly session: string,
    private readonly follow: Reading,
  ) {}

  see(event: AgentEvent): void {
    if (event.type === 'run-error') this.error = event.error;
    if (event.type === 'run-end') this.result = event.result;
  }

  /** Returns the result of the run, or throws the error of the failed run. */
  settle(): RunResult<unknown> {
    if (this.result !== undefined) return this.result;
    throw this.error ?? this.fail(new SessionLostError(this.session));
  }

  /** Emits `run-error` and `run-end`, because the log of the run ended without them. Returns the error. */
  fail(error: unknown): unknown {
    const { runId, sink } = this.follow;
    sink({ type: 'run-error', runId, error });
    sink({ type: 'run-end', runId });
    return error;
  }
}
