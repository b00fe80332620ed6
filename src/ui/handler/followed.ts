import type { AgentEvent, AgentEventOf } from '../../agent/agent-event.js';
import { OwnEvents, type RunStream } from '../../agent/run-stream.js';
import { replaySteps } from '../history/replay.js';
import type { ShownStep } from '../history/shown.js';

/** Data for a page that starts to follow a run after the run has started. */
export interface Catching {
  /** Loads the entries that the run has added to the session. */
  readonly load?: (() => Promise<void>) | undefined;
  /**
   * Earlier steps of the same answer. A resumed run has them, for example the step whose tool calls waited for
   * approval.
   */
  readonly steps?: readonly ShownStep[] | undefined;
}

/**
 * Wraps the events of a run for a page that follows it. Replays the earlier steps of the answer after `run-start`.
 * Awaits `load` before the last events, so that a final snapshot of the messages is complete.
 */
export function followed<Output>(stream: RunStream<Output>, { load, steps }: Catching): RunStream<Output> {
  const events = stream[Symbol.asyncIterator]();
  const earlier: AgentEvent[] = [];
  const own = new OwnEvents();
  const iterator: AsyncIterator<AgentEvent> = {
    async next() {
      const event = earlier.shift();
      if (event !== undefined) return { value: event, done: false };
      const next = await events.next();
      if (next.done || !own.has(next.value)) return next;
      const { type, runId } = next.value;
      // The page does not show the suspended answer, so nothing is taken back. An approved answer follows as a separate
      // step.
      if (steps !== undefined && isOnAnswer(next.value)) {
        if (next.value.decision.type === 'block') return iterator.next();
        return { value: { type: 'turn-start', runId, turn: steps.length + 1 }, done: false };
      }
      if (type === 'run-start') earlier.push(...replaySteps(steps ?? [], runId));
      if (type === 'run-error' || type === 'run-end') {
        await stream.result.catch(() => {});
        await load?.();
      }
      return next;
    },
    return: async () => {
      await events.return?.();
      return { value: undefined, done: true };
    },
  };
  const cancel: RunStream['cancel'] = (path, reason) => stream.cancel(path, reason);
  const { result, text, output } = stream;
  return { result, text, output, cancel, [Symbol.asyncIterator]: () => iterator };
}

/** Returns true for the decision on a suspended answer, which has no tool call. */
function isOnAnswer(event: AgentEvent): event is AgentEventOf<'decision'> {
  return event.type === 'decision' && event.decision.point === 'resume' && event.decision.call === undefined;
}
