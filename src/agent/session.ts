import { SessionClosedError, SessionReentryError } from '../errors.js';
import { createDeferred } from '../internal/promise.js';
import type { Message, UserMessage } from '../model/message.js';
import type { SessionStore } from '../state/session-store.js';
import type { SessionInfo } from '../tools/tool.js';
import type { AgentLife } from './agent-life.js';
import type { AnyRunOptions, RunOptions } from './agent-options.js';
import type { OutputOf, OutputSchema } from './run/output.js';
import type { Attached, Run } from './run/run.js';
import type { RunResult } from './run-result.js';
import { EventStream, type RunStream } from './run-stream.js';
import { SessionConflictError, SessionStoreError } from './session-error.js';

/** A conversation that remembers. Its runs go one after another. Function properties, so that Context is checked. */
export interface Session<Context = unknown> extends SessionInfo {
  readonly id: string;
  /** What is stored, as far as this session knows. */
  readonly messages: readonly Message[];
  /** As `agent.run`, from the stored messages on. Saved after each completed turn. */
  readonly run: SessionRun<Context>;
  /** As `agent.stream`, from the stored messages on. */
  readonly stream: SessionStream<Context>;
  /**
   * Waits for the runs that were begun and for what they save, and calls `onSessionEnd`. What is stored stays. Do not
   * await it inside a run of the same session: each would wait for the other.
   */
  close(): Promise<void>;
  /** As `close`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Starts a run in a session. */
export interface SessionRun<Context = unknown> {
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: SessionOutputRunArguments<Context, Schema>
  ): Promise<RunResult<OutputOf<Schema>>>;
  (input: string | UserMessage, ...options: SessionRunArguments<Context>): Promise<RunResult>;
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: SessionRunArguments<Context, Schema>
  ): Promise<RunResult<OutputOf<Schema> | string>>;
}

/** Starts a run in a session, and streams it. */
export interface SessionStream<Context = unknown> {
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: SessionOutputRunArguments<Context, Schema>
  ): RunStream<OutputOf<Schema>>;
  (input: string | UserMessage, ...options: SessionRunArguments<Context>): RunStream;
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: SessionRunArguments<Context, Schema>
  ): RunStream<OutputOf<Schema> | string>;
}

/** The options of a run in a session: its messages come from the store. */
export type SessionRunOptions<Context = unknown, Schema extends OutputSchema | undefined = undefined> = Omit<
  RunOptions<Context, Schema>,
  'messages'
>;

/** The options of a run in a session with an output schema. */
export type SessionOutputRunArguments<Context, Schema extends OutputSchema> = unknown extends Context
  ? [options: SessionRunOptions<Context, Schema> & { readonly output: Schema }]
  : [options: SessionRunOptions<Context, Schema> & { readonly output: Schema; readonly context: Context }];

/** The options of a run in a session, which are required exactly when the agent has a Context. */
export type SessionRunArguments<Context, Schema extends OutputSchema | undefined = undefined> = unknown extends Context
  ? [options?: SessionRunOptions<Context, Schema>]
  : [options: SessionRunOptions<Context, Schema> & { readonly context: Context }];

/** How a session reaches its agent. */
export interface SessionHost {
  readonly store: SessionStore;
  readonly life: AgentLife;
  launch(input: string | UserMessage, options: AnyRunOptions, attached: Attached): Promise<RunResult<unknown>>;
  ended(session: SessionInfo): Promise<void>;
}

type AnyOptions = SessionRunOptions<never, OutputSchema | undefined>;

/** The one implementation of {@link Session}. */
export class AgentSession implements Session<never> {
  private known: Message[] = [];
  private revision = 0;
  private tail: Promise<unknown> = Promise.resolve();
  /** The last save, which may outlast the run that asked for it: an abort ends its wait, and what follows waits. */
  private saving: Promise<unknown> = Promise.resolve();
  private closing: Promise<void> | undefined = undefined;

  constructor(
    readonly id: string,
    private readonly host: SessionHost,
  ) {}

  get messages(): readonly Message[] {
    return this.known;
  }

  /** Takes over what is stored. Where the wait for it ends before its time, what comes late changes nothing. */
  async load(wait = <T>(stored: Promise<T>) => stored): Promise<void> {
    const { messages, revision } = await wait(this.read());
    this.known = messages;
    this.revision = revision;
  }

  private async read(): Promise<{ messages: Message[]; revision: number }> {
    try {
      const stored = await this.host.store.load(this.id);
      return { messages: [...(stored?.messages ?? [])], revision: stored?.revision ?? 0 };
    } catch (error) {
      throw new SessionStoreError(this.id, 'loaded', error);
    }
  }

  run<Output>(input: string | UserMessage, options?: AnyOptions): Promise<RunResult<Output>> {
    return this.enqueue(input, options ?? {}, {}) as Promise<RunResult<Output>>;
  }

  stream<Output>(input: string | UserMessage, options?: AnyOptions): RunStream<Output> {
    const start = (sink: Attached['sink'], left: AbortSignal) => this.enqueue(input, options ?? {}, { sink, left });
    return new EventStream(start as ConstructorParameters<typeof EventStream<Output>>[0]);
  }

  close(): Promise<void> {
    this.closing ??= this.tail.then(() => this.host.ended(this));
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async enqueue(
    input: string | UserMessage,
    options: AnyOptions,
    attached: Attached,
  ): Promise<RunResult<unknown>> {
    if (this.closing !== undefined) throw new SessionClosedError(this.id);
    for (let run = options.parent; run; run = run.parent) {
      // Another agent may have a session of the same id in a store of its own.
      const outer = run.session as AgentSession | undefined;
      if (outer?.id === this.id && outer.host?.store === this.host.store) throw new SessionReentryError(this.id);
    }
    const before = this.tail;
    const turn = createDeferred<unknown>();
    this.tail = before.then(() => turn.promise);
    try {
      const waiting = { signal: options.signal, parent: options.parent, left: attached.left };
      const wait = <T>(promise: Promise<T>) => this.host.life.waitBeforeRun(promise, waiting);
      await wait(before);
      await this.load(wait);
      return await this.execute(input, options, attached);
    } finally {
      turn.resolve(this.saving);
    }
  }

  private execute(input: string | UserMessage, options: AnyOptions, attached: Attached): Promise<RunResult<unknown>> {
    const all = { ...options, messages: this.known } as AnyRunOptions;
    return this.host.launch(input, all, { ...attached, session: this, onTurn: (run) => this.save(run) });
  }

  private save(run: Run): Promise<void> {
    // The save before may be under way still, where an abort ended its wait: each builds on what the last one wrote.
    const saved = this.saving.then(() => this.write(run));
    this.saving = saved.catch(() => {});
    return saved;
  }

  private async write(run: Run): Promise<void> {
    const { known } = this;
    const { history } = run.conversation;
    // A hook may have changed the list in place: what the two have in common is looked up.
    let keep = 0;
    while (keep < known.length && known[keep] === history[keep]) keep += 1;
    const append = history.slice(keep);
    let revision: number | undefined;
    try {
      revision = await this.host.store.save(this.id, { keep, append }, this.revision);
    } catch (error) {
      throw run.end.own(new SessionStoreError(this.id, 'saved', error));
    }
    if (revision === undefined) {
      await this.load();
      throw run.end.own(new SessionConflictError(this.id, [...history], this.known));
    }
    known.length = keep;
    known.push(...append);
    this.revision = revision;
  }
}
