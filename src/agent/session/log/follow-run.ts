import { sleep } from '../../../internal/clock.js';
import { Stop } from '../../../internal/stop.js';
import { RunAbortedError } from '../../../lifecycle/run-failure.js';
import { type RunLog, TOUCH_MS } from '../../../state/run-log/run-log.js';
import type { AgentEvent } from '../../agent-event.js';
import type { RunResult } from '../../run-result.js';
import type { StreamConsumer } from '../../run-stream.js';
import { SessionLostError } from '../session-error.js';
import type { StoredSession } from '../stored-session.js';
import { eventFromJson } from './event-json.js';

/** How long a reader waits for events before it looks for the owner of the run. */
const LOOK_MS = 1_000;
/** How long a reader waits for a run that has no events yet. */
const BEGIN_MS = 100;

/** A run to follow, and who follows it. */
export interface Following extends StreamConsumer {
  readonly runId: string;
  /** The offset of the first event. */
  readonly from: number;
  /** Stopped when the agent of the reader is closed. The run goes on. */
  readonly stop: Stop;
}

/**
 * Reads the log of a run from an offset on, and follows it to the end. Returns the result of the run, with an empty
 * `history`. If the run has lost its conversation, such as by a crash, the log is closed, and a SessionLostError is thrown.
 */
export async function followRun(session: StoredSession, log: RunLog, follow: Following): Promise<RunResult<unknown>> {
  const stop = new Stop();
  stop.follow(follow.left, (reason) => stop.stop(new RunAbortedError(reason)));
  stop.followStop(follow.stop);
  try {
    return await readToEnd(session, log, { ...follow, stop });
  } finally {
    stop.release();
  }
}

async function readToEnd(session: StoredSession, log: RunLog, follow: Following): Promise<RunResult<unknown>> {
  const { clock } = session.agent.defaults;
  const { runId, sink, stop } = follow;
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
      end.see(event);
      sink(event);
    }
    if (page?.outcome !== undefined) return end.settle();
    if (page === undefined) await sleep(BEGIN_MS, clock);
    else if (page.events.length > 0) continue;
    // A run gives up the conversation shortly before it closes its log. So the log is read once more before it counts as lost.
    if (isLost) await log.close(runId, 'lost');
    isLost = (await session.running()) !== runId;
  }
}

/** How a run ended, as its events tell. */
class RunEnd {
  private error: unknown;
  private result: RunResult<unknown> | undefined;

  constructor(
    private readonly session: string,
    private readonly follow: Following,
  ) {}

  see(event: AgentEvent): void {
    if (event.type === 'run-error') this.error = event.error;
    if (event.type === 'run-end') this.result = event.result;
  }

  /** Returns the result of the run, or throws its error. */
  settle(): RunResult<unknown> {
    if (this.result !== undefined) return this.result;
    throw this.error ?? this.fail(new SessionLostError(this.session));
  }

  /** Adds the last events of a run whose log says no more. Returns the error. */
  fail(error: unknown): unknown {
    const { runId, sink } = this.follow;
    sink({ type: 'run-error', runId, error });
    sink({ type: 'run-end', runId });
    return error;
  }
}
