import type { AgentEvent } from '../../agent/agent-event.js';
import type { RunStream } from '../../agent/run-stream.js';

/** Returns the events of a followed run. Calls `load` before the last ones, after the run has stored its last entries. */
export function followed<Output>(stream: RunStream<Output>, load: () => Promise<void>): RunStream<Output> {
  const events = stream[Symbol.asyncIterator]();
  const iterator: AsyncIterator<AgentEvent> = {
    async next() {
      const next = await events.next();
      if (next.done || (next.value.type !== 'run-error' && next.value.type !== 'run-end')) return next;
      await stream.result.catch(() => {});
      await load();
      return next;
    },
    return: async () => {
      await events.return?.();
      return { value: undefined, done: true };
    },
  };
  return { result: stream.result, text: stream.text, [Symbol.asyncIterator]: () => iterator };
}
