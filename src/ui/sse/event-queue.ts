import type { AgentEvent } from '../../agent/agent-event.js';
import type { RunResult } from '../../agent/run-result.js';
import type { RunStream } from '../../agent/run-stream.js';
import { replayOf } from '../history/replay.js';

/** Converts one event of a run to the items for a client. */
export interface Converter<Item> {
  /** Returns the items of an event. Returns an empty array for events that the client does not need. */
  convert(event: AgentEvent): readonly Item[];
  /** Returns the items for the error of a run that failed before its first event. */
  fail(error: unknown): readonly Item[];
}

/**
 * The rule for joining items that wait for a slow client. Items of the same type and key become one item. Items are not
 * joined across an item that has another type or no key.
 */
export interface Joining<Item extends { readonly type: string }> {
  /** Returns the key of an item. Returns undefined for an item that is never joined. */
  keyOf(item: Item): string | undefined;
  join(waiting: Item, next: Item): Item;
}

/** Converts events, and joins items that wait for a slow client. */
export interface Conversion<Item extends { readonly type: string }> extends Converter<Item>, Joining<Item> {}

/**
 * A queue of the converted events of a run. The run does not wait for a slow client. Waiting deltas are joined, so that
 * the memory of the queue is limited by the text of the run. The error of a run that failed before its first event is
 * converted too.
 */
export class EventQueue<Item extends { readonly type: string }> {
  private items: Item[] = [];
  private wake: (() => void) | undefined = undefined;
  private ended = false;
  private readonly events: AsyncIterator<AgentEvent>;
  private readonly result: Promise<RunResult<unknown>>;

  constructor(
    stream: RunStream<unknown>,
    private readonly conversion: Conversion<Item>,
  ) {
    this.events = stream[Symbol.asyncIterator]();
    this.result = stream.result;
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
      // If the input was already answered, the run has a result but no events.
      if (!started) for (const event of replayOf(await this.result)) this.add(this.conversion.convert(event));
    } catch (error) {
      // The events of a run include its failure.
      if (!started) this.add(this.conversion.fail(error));
    } finally {
      this.ended = true;
      this.wake?.();
    }
  }

  private add(items: readonly Item[]): void {
    for (const item of items) this.addItem(item);
    if (this.items.length > 0) this.wake?.();
  }

  private addItem(item: Item): void {
    const { items, conversion } = this;
    const position = this.joinablePosition(item);
    if (position === undefined) items.push(item);
    else items[position] = conversion.join(items[position] as Item, item);
  }

  /**
   * Returns the index of the waiting item with which `item` can be joined. Searches backwards and stops at an item that
   * has another type or no key. So only deltas of parallel calls are skipped.
   */
  private joinablePosition(item: Item): number | undefined {
    const { items, conversion } = this;
    const key = items.length === 0 ? undefined : conversion.keyOf(item);
    if (key === undefined) return undefined;
    for (let position = items.length - 1; position >= 0; position -= 1) {
      const waiting = items[position] as Item;
      const found = waiting.type === item.type ? conversion.keyOf(waiting) : undefined;
      if (found === undefined) return undefined;
      if (found === key) return position;
    }
    return undefined;
  }
}

/** Returns the converted events as a stream of items. Cancelling the stream aborts the run. */
export function itemStream<Item extends { readonly type: string }>(
  stream: RunStream<unknown>,
  conversion: Conversion<Item>,
): ReadableStream<Item> {
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
