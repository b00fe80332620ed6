import { OptionInvalidError } from '../errors.js';
import { createDeferred, type Deferred } from '../internal/promise.js';
import type { AgentEvent } from './agent-event.js';
import type { RunResult } from './run-result.js';

/**
 * The events of a run, in order, for one consumer. The run starts at once, even if nobody reads the events. Leaving the
 * loop early aborts the run. If the run fails, the iteration throws the error of the run after the last event.
 */
export interface RunStream<Output = string> extends AsyncIterable<AgentEvent> {
  /**
   * The text of every turn; the answer comes last. Read either `text` or the events, because both read from one queue.
   * If a model call is retried, the text of both attempts appears. To show only the last attempt, read the events and
   * clear the text when `attempt` changes.
   *
   * @example
   * for await (const text of agent.stream('Hello').text) process.stdout.write(text);
   */
  readonly text: AsyncIterable<string>;
  /** The result or the error of the run. Ignoring it does not cause an unhandled rejection. */
  readonly result: Promise<RunResult<Output>>;
}

/** Starts a run that passes its events to `sink`. An abort of `onAbort` aborts the run. */
export type StartStream<Output> = (
  sink: (event: AgentEvent) => void,
  onAbort: AbortSignal,
) => Promise<RunResult<Output>>;

/** Queues the events of a run until the consumer reads them. */
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

  /** Reports the name that other libraries use for `text`. */
  get textStream(): never {
    throw new OptionInvalidError('textStream', 'unknown stream member `textStream`; use `text`');
  }

  next(): Promise<IteratorResult<AgentEvent, undefined>> {
    if (this.head < this.queue.length) return Promise.resolve({ value: this.take(), done: false });
    if (this.ended) return this.last();
    const waiter = createDeferred<IteratorResult<AgentEvent, undefined>>();
    this.waiting.push(waiter);
    return waiter.promise;
  }

  /** Called when the consumer leaves early. Aborts the run, and resolves when the run has ended. */
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
    // A consumer that left early does not get the error; its pending reads end normally.
    this.failure = this.left.signal.aborted ? undefined : failure;
    for (const waiter of this.waiting.splice(0)) this.last().then(waiter.resolve, waiter.reject);
  }

  /** Ends the iteration. Rejects with the error of the run the first time only. */
  private last(): Promise<IteratorResult<AgentEvent, undefined>> {
    const { failure } = this;
    this.failure = undefined;
    return failure === undefined ? Promise.resolve({ value: undefined, done: true }) : Promise.reject(failure.error);
  }
}

async function* textOfEvents(events: AsyncIterable<AgentEvent>): AsyncGenerator<string, void, undefined> {
  for await (const event of events) if (event.type === 'text-delta') yield event.text;
}
