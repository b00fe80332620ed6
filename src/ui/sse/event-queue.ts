import type { AgentEvent } from '../../agent/agent-event.js';
import type { RunStream } from '../../agent/run-stream.js';

/** Converts one event of a run to the items that a client gets. */
export interface Converter<Item> {
  /** Returns the items of an event; an empty array for events that a client does not need. */
  convert(event: AgentEvent): readonly Item[];
  /** Returns the items for a run that failed before its first event. */
  fail(error: unknown): readonly Item[];
}

/** Joins two neighbouring items into one. Returns undefined if they must stay apart. */
type Join<Item> = (last: Item, next: Item) => Item | undefined;

/** A conversion of events, with its rule for joining items. */
export interface Conversion<Item> extends Converter<Item> {
  readonly join: Join<Item>;
}

/**
 * The converted events of a run. The run does not wait for a slow reader. Deltas that wait are joined, so that the waiting
 * items need about as much memory as the text of the run. A failed run is shown by its items.
 */
export class EventQueue<Item> {
  private items: Item[] = [];
  private wake: (() => void) | undefined = undefined;
  private ended = false;
  private readonly events: AsyncIterator<AgentEvent>;

  constructor(
    stream: RunStream<unknown>,
    private readonly conversion: Conversion<Item>,
  ) {
    this.events = stream[Symbol.asyncIterator]();
    void this.drain();
  }

  /** Waits for items and returns all of them. Returns undefined at the end. */
  async take(): Promise<readonly Item[] | undefined> {
    if (this.items.length === 0 && !this.ended) await new Promise<void>((resolve) => (this.wake = resolve));
    const { items } = this;
    if (items.length === 0) return undefined;
    this.items = [];
    return items;
  }

  /** Aborts the run, and resolves when the run has ended. */
  async cancel(): Promise<void> {
    await this.events.return?.();
    this.items = [];
  }

  private async drain(): Promise<void> {
    let started = false;
    try {
      for (let next = await this.events.next(); !next.done; next = await this.events.next()) {
        started = true;
        this.add(this.conversion.convert(next.value));
      }
    } catch (error) {
      // The events of a run include its failure.
      if (!started) this.add(this.conversion.fail(error));
    } finally {
      this.ended = true;
      this.wake?.();
    }
  }

  private add(items: readonly Item[]): void {
    for (const item of items) {
      const last = this.items.at(-1);
      const joined = last === undefined ? undefined : this.conversion.join(last, item);
      if (joined === undefined) this.items.push(item);
      else this.items[this.items.length - 1] = joined;
    }
    if (this.items.length > 0) this.wake?.();
  }
}

/** Returns the converted events as a stream of items. Cancelling the stream aborts the run. */
export function itemStream<Item>(stream: RunStream<unknown>, conversion: Conversion<Item>): ReadableStream<Item> {
  const queue = new EventQueue(stream, conversion);
  return new ReadableStream<Item>(
    {
      async pull(controller) {
        const items = await queue.take();
        if (items === undefined) return controller.close();
        for (const item of items) controller.enqueue(item);
      },
      cancel: () => queue.cancel(),
    },
    { highWaterMark: 0 },
  );
}
