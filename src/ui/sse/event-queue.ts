import type { AgentEvent } from '../../agent/agent-event.js';
import type { RunStream } from '../../agent/run-stream.js';

/** Converts one event of a run to the items that a client gets. */
export interface Converter<Item> {
  convert(event: AgentEvent): readonly Item[];
  /** Returns the items for a run that failed before its first event. */
  fail(error: unknown): readonly Item[];
}

/** Joins two neighbouring items into one. Returns undefined if they must stay apart. */
export type Join<Item> = (last: Item, next: Item) => Item | undefined;

/** A conversion of events, with its rule for joining items. */
export interface Conversion<Item> extends Converter<Item> {
  readonly join: Join<Item>;
}

/**
 * Returns a stream of converted events. The run does not wait for a slow reader. Deltas that wait are joined, so that
 * the waiting items need about as much memory as the text of the run. Cancelling the stream aborts the run. A failed run
 * does not fail the stream, because the items contain the error.
 */
export function itemStream<Item>(stream: RunStream<unknown>, conversion: Conversion<Item>): ReadableStream<Item> {
  const queue: Item[] = [];
  const events = stream[Symbol.asyncIterator]();
  let wake: (() => void) | undefined;
  let started = false;
  let ended = false;
  const add = (items: readonly Item[]) => {
    for (const item of items) enqueue(queue, item, conversion.join);
  };
  const drain = async () => {
    try {
      for (let next = await events.next(); !next.done; next = await events.next()) {
        started = true;
        add(conversion.convert(next.value));
        wake?.();
      }
    } catch (error) {
      // The events of a run include its failure.
      if (!started) add(conversion.fail(error));
    } finally {
      ended = true;
      wake?.();
    }
  };
  return new ReadableStream<Item>(
    {
      start: () => void drain(),
      async pull(controller) {
        while (queue.length === 0 && !ended) await new Promise<void>((resolve) => (wake = resolve));
        const item = queue.shift();
        if (item === undefined) controller.close();
        else controller.enqueue(item);
      },
      cancel: async () => {
        queue.length = 0;
        await events.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

function enqueue<Item>(queue: Item[], item: Item, join: Join<Item>): void {
  const last = queue.at(-1);
  const joined = last === undefined ? undefined : join(last, item);
  if (joined === undefined) queue.push(item);
  else queue[queue.length - 1] = joined;
}
