import { OptionInvalidError } from '../errors.js';
import { fullText } from '../internal/options/rules.js';
import { type OptionRule, validateOption } from '../internal/options/validate.js';
import type { Awaitable } from '../internal/promise.js';
import type { AgentEvent } from './agent-event.js';
import type { RunResult } from './run-result.js';

/**
 * The events of a run, in order, for one consumer. The run starts at once, even if nobody reads the events.
 *
 * Leaving the loop early aborts the run. If the run fails, the iteration throws the error after the last event.
 */
export interface RunStream<Output = string> extends AsyncIterable<AgentEvent> {
  /**
   * The text of every turn, without nested runs; the answer comes last. Read either `text` or the events, because both
   * read from one queue.
   *
   * If a model call is retried, the text of both attempts appears. To show only the last attempt, read the events and
   * clear the text when `attempt` changes.
   *
   * @example
   * for await (const text of agent.stream('Hello').text) process.stdout.write(text);
   */
  readonly text: AsyncIterable<string>;
  /**
   * The output while the model writes it, then the checked output. Unfinished values are not checked or converted by
   * the schema. A retry or a later turn starts with an empty value again.
   *
   * Read `output`, `text` or the events, because all three read from one queue.
   *
   * @example
   * const output = z.object({ title: z.string(), steps: z.array(z.string()) });
   * for await (const recipe of agent.stream('A soup, please.', { output }).output) console.log(recipe.steps);
   */
  readonly output: AsyncIterable<PartialOutput<Output>>;
  /**
   * Cancels one tool call of this run or of a nested run. `path` lists the ids of the enclosing tool calls and of the
   * call, outermost first.
   *
   * Aborts the signal and the nested runs of the call, and the model reads an error result with the reason. The other
   * calls continue.
   *
   * Resolves with false if the call is not running, or if the run is durable.
   *
   * @example
   * const stream = agent.stream('Book a flight.');
   * await stream.cancel(['call_1'], 'too expensive');
   */
  cancel(path: readonly string[], reason?: string): Promise<boolean>;
  /** The result of the run. Rejects with the error of the run. Ignoring the promise causes no unhandled rejection. */
  readonly result: Promise<RunResult<Output>>;
}

/** An output while the model writes it: members can be missing, and strings and arrays can be incomplete. */
export type PartialOutput<Output> = Output extends readonly (infer Item)[]
  ? readonly PartialOutput<Item>[]
  : Output extends object
    ? { readonly [Key in keyof Output]?: PartialOutput<Output[Key]> }
    : Output;

type Read = IteratorResult<AgentEvent, undefined>;

const END: Read = { value: undefined, done: true };

/** A run whose tool calls can be cancelled. */
export interface Cancellable {
  cancel(path: readonly string[], reason: string | undefined): Awaitable<boolean>;
}

/** Accepts a path of tool calls: an array of ids. */
export const callPath: OptionRule = {
  expected: 'an array of one or more ids of tool calls',
  accepts: (value) => Array.isArray(value) && value.length > 0 && value.every((id) => fullText.accepts(id)),
};

/** The consumer of a stream, as its run sees it. */
export interface StreamConsumer {
  readonly sink: (event: AgentEvent) => void;
  /** Aborted when the consumer leaves. */
  readonly left: AbortSignal;
  /** The run calls this function when it starts. */
  readonly onStart: (run: Cancellable) => void;
}

/** Queues the events of a run until the consumer reads them. */
export class EventStream<Output> implements RunStream<Output>, AsyncIterator<AgentEvent, undefined> {
  readonly result: Promise<RunResult<Output>>;
  private readonly left = new AbortController();
  private queue: AgentEvent[] = [];
  /** The front of the queue, in reverse order, because `pop` is fast on an array of any length. */
  private front: AgentEvent[] = [];
  /** The `next` calls that wait for an event. */
  private readonly waiting: ((read: Read | Promise<Read>) => void)[] = [];
  private run: Cancellable | undefined = undefined;
  private ended = false;
  private reported = false;

  /** `start` starts the run. The run passes its events to `sink`, and is aborted when `left` aborts. */
  constructor(start: (consumer: StreamConsumer) => Promise<RunResult<Output>>) {
    const sink = (event: AgentEvent) => {
      const resolve = this.waiting.shift();
      if (resolve === undefined) this.queue.push(event);
      else resolve({ value: event, done: false });
    };
    const end = () => {
      this.ended = true;
      for (const resolve of this.waiting.splice(0)) resolve(this.last());
    };
    const onStart = (run: Cancellable) => {
      this.run = run;
    };
    this.result = start({ sink, left: this.left.signal, onStart });
    this.result.then(end, end);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  get text(): AsyncIterable<string> {
    return textOfEvents(this);
  }

  get output(): AsyncIterable<PartialOutput<Output>> {
    return outputOfEvents(this);
  }

  /** Always throws an error that names `text`, because other libraries call this member `textStream`. */
  get textStream(): never {
    throw new OptionInvalidError('textStream', 'unknown stream member `textStream`; use `text`');
  }

  next(): Promise<Read> {
    if (this.front.length === 0) {
      this.front = this.queue.reverse();
      this.queue = [];
    }
    const event = this.front.pop();
    if (event !== undefined) return Promise.resolve({ value: event, done: false });
    return this.ended ? this.last() : new Promise((resolve) => this.waiting.push(resolve));
  }

  async cancel(path: readonly string[], reason?: string): Promise<boolean> {
    validateOption('path', path, callPath);
    return (await this.run?.cancel(path, reason)) ?? false;
  }

  /** Called when the consumer leaves early. Aborts the run, and resolves when the run has ended. */
  async return(): Promise<Read> {
    this.left.abort('its stream was left before the end');
    await this.result.catch(() => {});
    this.queue = [];
    this.front = [];
    return END;
  }

  /**
   * Ends the iteration. Only the first call rejects with the error of the run, and only if the consumer has not left.
   */
  private last(): Promise<Read> {
    if (this.reported || this.left.signal.aborted) return Promise.resolve(END);
    this.reported = true;
    return this.result.then(() => END);
  }
}

async function* textOfEvents(events: AsyncIterable<AgentEvent>): AsyncGenerator<string, void, undefined> {
  const own = new OwnEvents();
  for await (const event of events) if (own.has(event) && event.type === 'text-delta') yield event.text;
}

/** Imports the code on first use, because most streams have no schema. */
async function* outputOfEvents<Output>(stream: RunStream<Output>): AsyncGenerator<PartialOutput<Output>> {
  const { partialValues } = await import('./run/output/partial-output.js');
  yield* partialValues<PartialOutput<Output>>(stream, new OwnEvents());
  const result = await stream.result;
  if (result.status === 'completed') yield result.output as PartialOutput<Output>;
}

/** Distinguishes the events of the streamed run from the events of nested runs. */
export class OwnEvents {
  private depth = Number.POSITIVE_INFINITY;

  /** Returns true for an event of the streamed run. Call it with every event of the stream, in order. */
  has({ path = [] }: AgentEvent): boolean {
    this.depth = Math.min(this.depth, path.length);
    return path.length === this.depth;
  }

  /**
   * Returns the path of an event relative to the streamed run. Call either `has` or `pathOf` for an event, because each
   * of them counts the event.
   */
  pathOf(event: AgentEvent): readonly string[] {
    return this.has(event) ? [] : (event.path ?? []).slice(this.depth);
  }
}
