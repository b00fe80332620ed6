import type { AgentEvent } from '../../agent/agent-event.js';
import type { RunStream } from '../../agent/run-stream.js';

/** Returns a stream that can be left without stopping the run. */
export function watched<Output>(stream: RunStream<Output>): RunStream<Output> {
  const events = stream[Symbol.asyncIterator]();
  const iterator: AsyncIterator<AgentEvent> = {
    next: () => events.next(),
    return: async () => {
      void discard(events).catch(() => {});
      return { value: undefined, done: true };
    },
  };
  return { result: stream.result, text: stream.text, [Symbol.asyncIterator]: () => iterator };
}

/** Reads the rest, so that it does not wait in memory. */
async function discard(events: AsyncIterator<AgentEvent>): Promise<void> {
  while (!(await events.next()).done);
}
