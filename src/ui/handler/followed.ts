import type { AgentEvent } from '../../agent/agent-event.js';
import type { RunStream } from '../../agent/run-stream.js';
import { replaySteps } from '../history/replay.js';
import type { ShownStep } from '../history/shown.js';

/** The parts of the conversation that a page needs to follow a run. */
export interface Catching {
  /** Loads the entries that the run has added. */
  readonly load?: (() => Promise<void>) | undefined;
  /** The steps of the answer before the run, such as the one whose calls it resumes. */
  readonly steps?: readonly ShownStep[] | undefined;
}

/** Returns the events of a followed run: `steps` behind the first one. Calls `load` before the last ones. */
export function followed<Output>(stream: RunStream<Output>, { load, steps = [] }: Catching): RunStream<Output> {
  const events = stream[Symbol.asyncIterator]();
  const earlier: AgentEvent[] = [];
  const iterator: AsyncIterator<AgentEvent> = {
    async next() {
      const event = earlier.shift();
      if (event !== undefined) return { value: event, done: false };
      const next = await events.next();
      if (next.done) return next;
      const { type, runId } = next.value;
      if (type === 'run-start') earlier.push(...replaySteps(steps, runId));
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
  return { result: stream.result, text: stream.text, [Symbol.asyncIterator]: () => iterator };
}
