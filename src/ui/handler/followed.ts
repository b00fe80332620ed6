import type { AgentEvent, AgentEventOf } from '../../agent/agent-event.js';
import { OwnEvents, type RunStream } from '../../agent/run-stream.js';
import { replaySteps } from '../history/replay.js';
import type { ShownStep } from '../history/shown.js';

/** The data that a page needs to follow a run. */
export interface Catching {
  /** Loads the entries that the run has added. */
  readonly load?: (() => Promise<void>) | undefined;
  /** The steps of the same answer before the run, such as the step whose calls the run resumes. */
  readonly steps?: readonly ShownStep[] | undefined;
}

/**
 * Returns the events of a run that a page follows. Adds the earlier steps of the answer after `run-start`. Awaits
 * `load` before the last events of the run.
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

/** True for the decision on a suspended answer. */
function isOnAnswer(event: AgentEvent): event is AgentEventOf<'decision'> {
  return event.type === 'decision' && event.decision.point === 'resume' && event.decision.call === undefined;
}
