import { SessionClosedError, SessionReentryError } from '../errors.js';
import { type Clock, withinTime } from '../internal/clock.js';
import type { Stop } from '../internal/stop.js';
import { RunAbortedError } from '../lifecycle/run-failure.js';
import { checkAddition, checkMessages } from '../model/check-messages.js';
import type { Message, UserMessage } from '../model/message.js';
import { joinQueue } from '../state/session-queue.js';
import type { SessionDetails, SessionStore, StoredSession } from '../state/session-store.js';
import type { SessionInfo } from '../tools/tool.js';
import { type AgentLife, startLimit } from './agent-life.js';
import { type AnyRunOptions, checkRunOptions, type RunOptions } from './agent-options.js';
import type { OutputOf, OutputSchema } from './run/output.js';
import { ResumeClaim } from './run/resume/resume-claim.js';
import type { Attached, Run } from './run/run.js';
import type { Timeouts } from './run/run-config.js';
import type { RunResult } from './run-result.js';
import { EventStream, type RunStream } from './run-stream.js';
import { ResumeClaimedError, SessionBusyError, SessionConflictError, SessionStoreError } from './session-error.js';

/** A stored conversation. Its runs are queued and execute one at a time. */
export interface Session<Context = unknown> extends SessionInfo {
  readonly id: string;
  /** The stored messages, as of the last load or save of this session. */
  readonly messages: readonly Message[];
  /** As `agent.run`, but continues from the stored messages. The session is saved after each completed turn. */
  readonly run: SessionRun<Context>;
  /** As `agent.stream`, but continues from the stored messages. */
  readonly stream: SessionStream<Context>;
  /**
   * Adds a message to the stored messages, after the queued runs and without a run. Tool calls and tool results are
   * refused with a MessageInvalidError.
   */
  append(message: Message): Promise<void>;
  /**
   * Waits for the queued runs and their saves, then calls `onSessionEnd`. The stored messages stay. Awaiting `close`
   * inside a run of the same session deadlocks.
   */
  close(): Promise<void>;
  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The type of `session.run`. */
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

/** The type of `session.stream`. */
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

/** The options of a run in a session: all run options except `messages`, which come from the store. */
export type SessionRunOptions<Context = unknown, Schema extends OutputSchema | undefined = undefined> = Omit<
  RunOptions<Context, Schema>,
  'messages'
>;

/** The options argument of a run in a session, with an output schema. */
export type SessionOutputRunArguments<Context, Schema extends OutputSchema> = unknown extends Context
  ? [options: SessionRunOptions<Context, Schema> & { readonly output: Schema }]
  : [options: SessionRunOptions<Context, Schema> & { readonly output: Schema; readonly context: Context }];

/** The options argument of a run in a session. Required if the agent has a `Context` type. */
export type SessionRunArguments<Context, Schema extends OutputSchema | undefined = undefined> = unknown extends Context
  ? [options?: SessionRunOptions<Context, Schema>]
  : [options: SessionRunOptions<Context, Schema> & { readonly context: Context }];

/** The members of an agent that a session uses. */
export interface SessionHost {
  readonly store: SessionStore;
  /** Stored when the session is saved for the first time. */
  readonly details: SessionDetails;
  readonly life: AgentLife;
  readonly timeouts: Timeouts;
  readonly clock: Clock;
  readonly keepsStopped: boolean;
  launch(input: string | UserMessage, options: AnyRunOptions, attached: Attached): Promise<RunResult<unknown>>;
  ended(session: SessionInfo): Promise<void>;
}

/** The default of `timeouts.queueMs`. */
const QUEUE_MS = 30_000;

type AnyOptions = SessionRunOptions<never, OutputSchema | undefined>;

/** The consumer and the time limit of a run that waits in the queue. */
interface QueueWait {
  readonly left?: AbortSignal | undefined;
  readonly runMs?: number | undefined;
}

/** The claim and the error handler of a save that a run makes. */
interface Writer {
  readonly claim?: ResumeClaim | undefined;
  readonly own?: (<E>(error: E) => E) | undefined;
}

export class AgentSession implements Session<never> {
  private known: Message[] = [];
  /** The number of messages, from the first one, that have been checked and whose tool calls have results. */
  private closed = 0;
  private revision = 0;
  /** Undefined until the session is stored. */
  private uid: string | undefined = undefined;
  private tail: Promise<unknown> = Promise.resolve();
  /** The last save. An abort ends the run before its save; the next run waits for the save. */
  private saving: Promise<unknown> = Promise.resolve();
  private closing: Promise<void> | undefined = undefined;

  constructor(
    readonly id: string,
    readonly host: SessionHost,
  ) {}

  get messages(): readonly Message[] {
    return this.known;
  }

  /** Loads the stored messages. If `wait` rejects first, a late response of the store changes nothing. */
  async load(wait = <T>(stored: Promise<T>) => stored): Promise<void> {
    const stored = await wait(this.read());
    const { keep = 0, messages = [] } = stored ?? {};
    if (keep < this.known.length || messages.length > 0) this.known = [...this.known.slice(0, keep), ...messages];
    if (keep < this.closed) this.closed = 0;
    this.revision = stored?.revision ?? 0;
    this.uid = stored?.uid;
  }

  private async read(): Promise<StoredSession | undefined> {
    const { uid, revision } = this;
    try {
      return await this.host.store.load(this.id, uid === undefined ? undefined : { uid, revision });
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

  async append(message: Message): Promise<void> {
    checkAddition(message);
    await this.inQueue({}, {}, async () => {
      const saved = this.write([...this.known, message]);
      this.saving = saved.catch(() => {});
      await saved;
    });
  }

  close(): Promise<void> {
    this.closing ??= this.tail.then(() => this.host.ended(this));
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private enqueue(input: string | UserMessage, options: AnyOptions, attached: Attached): Promise<RunResult<unknown>> {
    const runMs = options.timeouts?.runMs ?? this.host.timeouts.runMs;
    const wait = { left: attached.left, runMs };
    return this.inQueue(options, wait, (limit) => this.execute(input, options, { ...attached, limit }));
  }

  /** Calls `work` when the earlier runs of this session id have ended and the stored messages are loaded. */
  private async inQueue<T>(
    options: AnyOptions,
    { left, runMs }: QueueWait,
    work: (limit: Stop | undefined) => Promise<T>,
  ): Promise<T> {
    if (options.timeouts !== undefined) checkRunOptions(options);
    if (this.closing !== undefined) throw new SessionClosedError(this.id);
    for (let run = options.parent; run; run = run.parent) {
      // A session of another agent may have the same id in another store.
      const outer = run.session as AgentSession | undefined;
      if (outer?.id === this.id && outer.host?.store === this.host.store) throw new SessionReentryError(this.id);
    }
    const { before, tail, leave } = joinQueue(this.host.store, this.id);
    this.tail = tail;
    const limit = startLimit(runMs, this.host.clock);
    try {
      const waiting = { signal: options.signal, parent: options.parent, left, limit };
      const wait = <T>(promise: Promise<T>) => this.host.life.waitBeforeRun(promise, waiting);
      await wait(this.inTime(before, options.timeouts));
      await this.load(wait);
      return await work(limit);
    } finally {
      limit?.release();
      leave(this.saving);
    }
  }

  private inTime<T>(before: Promise<T>, timeouts: Timeouts | undefined): Promise<T> {
    const { host, id } = this;
    const queueMs = timeouts?.queueMs ?? host.timeouts.queueMs ?? QUEUE_MS;
    return withinTime(before, new SessionBusyError(id, queueMs), host.clock);
  }

  private execute(input: string | UserMessage, options: AnyOptions, attached: Attached): Promise<RunResult<unknown>> {
    const all = { ...options, messages: this.known } as AnyRunOptions;
    if (checkMessages(this.known, this.closed) === undefined) this.closed = this.known.length;
    const inSession = { ...attached, keepsStopped: this.host.keepsStopped, session: this, closed: this.closed };
    if (options.resume !== undefined) return this.resume(input, all, inSession);
    return this.host.launch(input, all, { ...inSession, onTurn: (run) => this.save(run) });
  }

  /** Claims the open calls before they run, so that only one of several processes runs them. */
  private async resume(
    input: string | UserMessage,
    options: AnyRunOptions,
    attached: Attached,
  ): Promise<RunResult<unknown>> {
    const { id, uid = '', revision } = this;
    const claim = new ResumeClaim({ store: this.host.store, id, uid, revision });
    const release = () => {
      this.saving = this.saving.then(() => claim.release());
      return this.saving;
    };
    try {
      const result = await this.host.launch(input, options, {
        ...attached,
        session: this,
        resumption: claim,
        onResume: (run) => claim.take(run),
        onTurn: (run) => this.save(run, claim),
      });
      await release();
      return result;
    } catch (error) {
      const released = release();
      // An abort ends the run at once, even if the store does not answer.
      if (!(error instanceof RunAbortedError)) await released;
      throw error;
    }
  }

  private save(run: Run, claim?: ResumeClaim): Promise<void> {
    // An abort may have ended the wait for the previous save, which must finish before the next one starts.
    const saved = this.saving.then(() => {
      this.uid ??= run.config.ids.next('session');
      return this.write(run.conversation.history, { claim, own: (error) => run.end.own(error) });
    });
    this.saving = saved.catch(() => {});
    return saved;
  }

  private async write(history: readonly Message[], { claim, own = (error) => error }: Writer = {}): Promise<void> {
    const { known, uid } = this;
    const { store, details } = this.host;
    // A hook may have changed the array in place, so the common prefix is searched.
    let keep = 0;
    while (keep < known.length && known[keep] === history[keep]) keep += 1;
    const append = history.slice(keep);
    let revision: number | undefined;
    let isLost = false;
    try {
      const change = { keep, append, uid, claim: claim?.token, details };
      revision = await store.save(this.id, change, this.revision);
      if (revision === undefined) isLost = (await claim?.isLost()) ?? false;
    } catch (error) {
      throw own(new SessionStoreError(this.id, 'saved', error));
    }
    if (revision === undefined) {
      await this.load();
      if (isLost) throw own(new ResumeClaimedError(this.id));
      throw own(new SessionConflictError(this.id, [...history], [...this.known]));
    }
    known.length = keep;
    known.push(...append);
    if (keep < this.closed) this.closed = 0;
    this.revision = revision;
    this.uid = uid;
    claim?.end();
  }
}
