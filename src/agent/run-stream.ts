import { OptionInvalidError } from '../errors.js';
import { createDeferred, type Deferred } from '../internal/promise.js';
import type { AgentEvent } from './agent-event.js';
import type { RunResult } from './run-result.js';

/**
 * The events of a run, in order, for one consumer. The run has begun whether or not anybody reads. Leaving the loop
 * early aborts it. Where the run fails the iteration ends by throwing its error, after the last event.
 */
export interface RunStream<Output = string> extends AsyncIterable<AgentEvent> {
  /**
   * The text of every turn, the answer last. Read this or the events, not both: they come from one queue. If a model call
   * fails and is retried, the text of both attempts appears. To show only the last attempt, read the events and clear the
   * text when `attempt` changes.
   *
   * @example
   * for await (const text of agent.stream('Hello').text) process.stdout.write(text);
   */
  readonly text: AsyncIterable<string>;
  /** The run's result or error. Ignoring it is no unhandled rejection. */
  readonly result: Promise<RunResult<Output>>;
}

/** Starts a run that tells `sink` its events, and stops it when `onAbort`'s callback is called. */
export type StartStream<Output> = (
  sink: (event: AgentEvent) => void,
  onAbort: AbortSignal,
) => Promise<RunResult<Output>>;

/** A queue between the run, which pushes, and the consumer, who pulls. */
export class EventStream<Output> implements RunStream<Output>, AsyncIterator<AgentEvent, undefined> {
  readonly result: Promise<RunResult<Output>>;
  private readonly left = new AbortController();
  private queue: AgentEvent[] = [];
  private head = 0;
  private ended = false;
  private failure: { readonly error: unknown } | undefined = undefined;
  private readonly waiting: Deferred<IteratorResult<AgentEvent, undefined>>[] = [];

  constructor(start: StartStream<Output>) {
    this.result = start((event) => this.push(event), this.left.signal);
    this.result.then(
      () => this.end(undefined),
      (error) => this.end({ error }),
    );
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get text(): AsyncIterable<string> {
    return textOfEvents(this);
  }

  /** Other libraries call `text` so. */
  get textStream(): never {
    throw new OptionInvalidError('textStream', 'unknown member `textStream` of a stream; use `text`');
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    if (this.head < this.queue.length) return Promise.resolve({ value: this.take(), done: false });
    if (this.ended) return this.last();
    const waiter = createDeferred<IteratorResult<AgentEvent, undefined>>();
    this.waiting.push(waiter);
    return waiter.promise;
  }

  /** Called where the consumer leaves early: aborts the run, and resolves once it has ended. */
  async return(): Promise<IteratorResult<AgentEvent, undefined>> {
    this.left.abort('its stream was left before the end');
    await this.result.catch(() => {});
    this.queue = [];
    this.head = 0;
    this.failure = undefined;
    return { value: undefined, done: true };
  }

  private take(): AgentEvent {
    const event = this.queue[this.head] as AgentEvent;
    this.head += 1;
    if (this.head === this.queue.length) {
      this.queue = [];
      this.head = 0;
    }
    return event;
  }

  private push(event: AgentEvent): void {
    const waiter = this.waiting.shift();
    if (waiter === undefined) this.queue.push(event);
    else waiter.resolve({ value: event, done: false });
  }

  private end(failure: { readonly error: unknown } | undefined): void {
    this.ended = true;
    // Who left asked for no more: what they still wait for ends, and does not fail.
    this.failure = this.left.signal.aborted ? undefined : failure;
    for (const waiter of this.waiting.splice(0)) this.last().then(waiter.resolve, waiter.reject);
  }

  /** The end of the iteration: an error is thrown once. */
  private last(): Promise<IteratorResult<AgentEvent, undefined>> {
    const { failure } = this;
    this.failure = undefined;
    return failure === undefined ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(failure.error);
  }
}

async function* textOfEvents(events: AsyncIterable<AgentEvent>): AsyncGenerator<string, void, undefined> {
  for await (const event of events) if (event.type === 'text-delta') yield event.text;
}
