import { SessionClosedError, SessionReentryError } from '../errors.js';
import { withinTime } from '../internal/clock.js';
import { validateOptions } from '../internal/options/validate.js';
import { RunAbortedError } from '../lifecycle/run-failure.js';
import { checkAddition, checkMessages } from '../model/check-messages.js';
import type { Message, UserMessage } from '../model/message.js';
import { joinQueue } from '../state/session-queue.js';
import type { SessionStore, StoredSession } from '../state/session-store.js';
import type { SessionInfo } from '../tools/tool.js';
import { type AgentLife, startLimit } from './agent-life.js';
import {
  type AgentDefaults,
  type AnyRunOptions,
  type RunArguments,
  runRules,
  type SessionOptions,
  type SessionRunOptions,
} from './agent-options.js';
import type { OutputOf, OutputSchema } from './run/output.js';
import { ResumeClaim } from './run/resume/resume-claim.js';
import type { Attached, Run } from './run/run.js';
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
    ...options: Required<RunArguments<Context, SessionRunOptions<Context, Schema> & { readonly output: Schema }>>
  ): Promise<RunResult<OutputOf<Schema>>>;
  (input: string | UserMessage, ...options: RunArguments<Context, SessionRunOptions<Context>>): Promise<RunResult>;
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: RunArguments<Context, SessionRunOptions<Context, Schema>>
  ): Promise<RunResult<OutputOf<Schema> | string>>;
}

/** The type of `session.stream`. */
export interface SessionStream<Context = unknown> {
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: Required<RunArguments<Context, SessionRunOptions<Context, Schema> & { readonly output: Schema }>>
  ): RunStream<OutputOf<Schema>>;
  (input: string | UserMessage, ...options: RunArguments<Context, SessionRunOptions<Context>>): RunStream;
  <Schema extends OutputSchema>(
    input: string | UserMessage,
    ...options: RunArguments<Context, SessionRunOptions<Context, Schema>>
  ): RunStream<OutputOf<Schema> | string>;
}

/** The members of an agent that a session uses. */
export interface SessionHost {
  readonly defaults: AgentDefaults;
  readonly life: AgentLife;
  readonly sessions: { end(session: AgentSession): Promise<void> };
  launch(input: string | UserMessage, options: AnyRunOptions, attached: Attached): Promise<RunResult<unknown>>;
}

/** The default of `timeouts.queueMs`. */
const QUEUE_MS = 30_000;

/** The messages of a session, kept in step with its store. One run at a time changes them. */
export class AgentSession implements Session<never> {
  readonly id: string;
  readonly store: SessionStore;
  messages: Message[] = [];
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
    private readonly host: SessionHost,
    private readonly options: SessionOptions,
  ) {
    this.id = options.id ?? host.defaults.ids.next('session');
    this.store = options.store ?? host.defaults.store;
  }

  /** Loads the stored messages. If `wait` rejects first, a late response of the store changes nothing. */
  async load(wait = <T>(stored: Promise<T>) => stored): Promise<void> {
    const stored = await wait(this.read());
    const { keep = 0, messages = [] } = stored ?? {};
    if (keep < this.messages.length || messages.length > 0)
      this.messages = [...this.messages.slice(0, keep), ...messages];
    if (keep < this.closed) this.closed = 0;
    this.revision = stored?.revision ?? 0;
    this.uid = stored?.uid;
  }

  private async read(): Promise<StoredSession | undefined> {
    const { uid, revision } = this;
    try {
      return await this.store.load(this.id, uid === undefined ? undefined : { uid, revision });
    } catch (error) {
      throw new SessionStoreError(this.id, 'loaded', error);
    }
  }

  run<Output>(input: string | UserMessage, options?: AnyRunOptions): Promise<RunResult<Output>> {
    return this.enqueue(input, options ?? {}, {}) as Promise<RunResult<Output>>;
  }

  stream<Output>(input: string | UserMessage, options?: AnyRunOptions): RunStream<Output> {
    return new EventStream((attached) => this.enqueue(input, options ?? {}, attached)) as RunStream<Output>;
  }

  async append(message: Message): Promise<void> {
    checkAddition(message);
    await this.inQueue({}, {}, () => this.afterSave(() => this.write([...this.messages, message])));
  }

  close(): Promise<void> {
    const { life, sessions } = this.host;
    this.closing ??= this.tail.then(() => life.track(sessions.end(this)));
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async enqueue(
    input: string | UserMessage,
    options: AnyRunOptions,
    attached: Attached,
  ): Promise<RunResult<unknown>> {
    if (options.timeouts !== undefined) validateOptions(options, runRules);
    const { timeouts, clock } = this.host.defaults;
    const limit = startLimit(options.timeouts?.runMs ?? timeouts.runMs, clock);
    const limited = { ...attached, limit };
    try {
      return await this.inQueue(options, limited, () => this.execute(input, options, limited));
    } finally {
      limit?.release();
    }
  }

  /** Calls `work` when the earlier runs of this session id have ended and the stored messages are loaded. */
  private async inQueue<T>(options: AnyRunOptions, attached: Attached, work: () => Promise<T>): Promise<T> {
    if (this.closing !== undefined) throw new SessionClosedError(this.id);
    for (let run = options.parent; run; run = run.parent) {
      // A session of another agent may have the same id in another store.
      const outer = run.session as AgentSession | undefined;
      if (outer?.id === this.id && outer.store === this.store) throw new SessionReentryError(this.id);
    }
    const { defaults, life } = this.host;
    const wait = <T>(promise: Promise<T>) => life.waitBeforeRun(promise, { ...options, ...attached });
    const queueMs = options.timeouts?.queueMs ?? defaults.timeouts.queueMs ?? QUEUE_MS;
    const { before, tail, leave } = joinQueue(this.store, this.id);
    this.tail = tail;
    try {
      await wait(withinTime(before, new SessionBusyError(this.id, queueMs), defaults.clock));
      await this.load(wait);
      return await work();
    } finally {
      leave(this.saving);
    }
  }

  private async execute(
    input: string | UserMessage,
    options: AnyRunOptions,
    attached: Attached,
  ): Promise<RunResult<unknown>> {
    const { id, uid = '', revision, store } = this;
    if (checkMessages(this.messages, this.closed) === undefined) this.closed = this.messages.length;
    // Claims the open calls before they run, so that only one of several processes runs them.
    const claim = options.resume === undefined ? undefined : new ResumeClaim({ store, id, uid, revision });
    const all = { ...options, messages: this.messages };
    const running = this.host.launch(input, all, {
      ...attached,
      session: this,
      closed: this.closed,
      keepsStopped: this.options.onAbort !== 'discard',
      resumption: claim,
      onResume: claim && ((run) => claim.take(run)),
      onTurn: (run) => this.save(run, claim),
    });
    if (claim === undefined) return running;
    const outcome = await running.catch((error: unknown) => error);
    const released = this.afterSave(() => claim.release());
    // An abort ends the run at once, even if the store does not answer.
    if (!(outcome instanceof RunAbortedError)) await released;
    return running;
  }

  private save(run: Run, claim: ResumeClaim | undefined): Promise<void> {
    return this.afterSave(async () => {
      this.uid ??= run.config.ids.next('session');
      await this.write(run.conversation.history, claim).catch((error) => {
        throw run.end.own(error);
      });
    });
  }

  /** Calls `work` after the last save, which an abort may have left running. */
  private afterSave(work: () => Promise<void>): Promise<void> {
    const done = this.saving.then(work);
    this.saving = done.catch(() => {});
    return done;
  }

  private async write(history: readonly Message[], claim?: ResumeClaim): Promise<void> {
    const { messages, uid } = this;
    const { owner, title, data } = this.options;
    // A hook may have changed the array in place, so the common prefix is searched.
    let keep = 0;
    while (keep < messages.length && messages[keep] === history[keep]) keep += 1;
    const append = history.slice(keep);
    let revision: number | undefined;
    let isLost = false;
    try {
      const change = { keep, append, uid, claim: claim?.token, details: { owner, title, data } };
      revision = await this.store.save(this.id, change, this.revision);
      if (revision === undefined) isLost = (await claim?.isLost()) ?? false;
    } catch (error) {
      throw new SessionStoreError(this.id, 'saved', error);
    }
    if (revision === undefined) {
      await this.load();
      if (isLost) throw new ResumeClaimedError(this.id);
      throw new SessionConflictError(this.id, [...history], [...this.messages]);
    }
    messages.length = keep;
    messages.push(...append);
    if (keep < this.closed) this.closed = 0;
    this.revision = revision;
    this.uid = uid;
    claim?.end();
  }
}
