import type { AgentEvent } from '../../agent/agent-event.js';
import type { RunStream } from '../../agent/run-stream.js';
import { type Clock, repeat } from '../../internal/clock.js';
import { type RunLog, TOUCH_MS } from '../../state/run-log/run-log.js';

/**
 * Wraps the stream of a run so that its client can disconnect without stopping the run. While the client is connected,
 * the run log records that the run has a reader. A run without a reader is stopped after some time.
 */
export function watched<Output>(stream: RunStream<Output>, log: RunLog, clock: Clock): RunStream<Output> {
  const events = stream[Symbol.asyncIterator]();
  let run: string | undefined;
  const touch = async () => run && log.touch(run);
  const stopTouching = repeat(touch, TOUCH_MS, clock);
  stream.result.then(stopTouching, stopTouching);
  const iterator: AsyncIterator<AgentEvent> = {
    next: async () => {
      const read = await events.next();
      if (!read.done) run ??= read.value.runId;
      return read;
    },
    return: async () => {
      stopTouching();
      touch().catch(() => {});
      discard(events).catch(() => {});
      return { value: undefined, done: true };
    },
  };
  const cancel: RunStream['cancel'] = (path, reason) => stream.cancel(path, reason);
  const { result, text, output } = stream;
  return { result, text, output, cancel, [Symbol.asyncIterator]: () => iterator };
}

/** Reads the remaining events of a run after its client has disconnected, so that they do not stay in memory. */
async function discard(events: AsyncIterator<AgentEvent>): Promise<void> {
  while (!(await events.next()).done);
}
