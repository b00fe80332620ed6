import { SessionClosedError, SessionReentryError } from '../../errors.js';
import { withinMs } from '../../internal/clock.js';
import { fullText, whole } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { checkAddition } from '../../model/check-messages.js';
import type { Message, UserMessage } from '../../model/message.js';
import type { Entry } from '../../state/record/entry.js';
import type { RunLog } from '../../state/run-log/run-log.js';
import { joinQueue, type QueuePlace } from '../../state/session-queue.js';
import type { SessionSummary } from '../../state/session-store.js';
import type { SessionInfo } from '../../tools/tool.js';
import { type AgentLife, startLimit } from '../agent-life.js';
import {
  type AnySessionRunOptions,
  type RunArguments,
  type SessionOptions,
  type SessionRunOptions,
  sessionRunRules,
} from '../agent-options.js';
import type { OutputOf, OutputSchema } from '../run/output.js';
import type { Attached } from '../run/run.js';
import type { RunResult } from '../run-result.js';
import { EventStream, type RunStream } from '../run-stream.js';
import { claimSession, type SessionWait } from './claim-session.js';
import { forkSession, type SessionFork } from './fork.js';
import { type AttachOptions, attachTo, streamOf } from './log/follow-run.js';
import { OwnedRun } from './owned-run.js';
import { SessionBusyError } from './session-error.js';
import { type SessionAgent, StoredSession } from './stored-session.js';

/** A stored conversation. Its runs are queued and execute one at a time, in whatever process they start. */
export interface Session<Context = unknown> extends SessionInfo {
  readonly id: string;
  /**
   * The messages from the first one to the latest, as people read them: without summaries, and without other branches.
   * Begins at the messages that the model reads if the conversation was opened after a compaction; `history` has the rest.
   */
  readonly messages: readonly Message[];
  /** The loaded entries of the record, in the order in which they were added, other branches included. */
  readonly entries: readonly Entry[];
  /** As `agent.run`, but continues from the record, and adds to it. */
  readonly run: SessionRun<Context>;
  /** As `agent.stream`, but continues from the record, and adds to it. */
  readonly stream: SessionStream<Context>;
  /**
   * Returns entries of the record, the earliest first: the last `limit` (default: 100) before the entry `before` (default:
   * the end). Rejects with an EntryInvalidError if `before` is unknown.
   */
  history(query?: HistoryQuery): Promise<readonly Entry[]>;
  /**
   * Streams the events of the active run of the conversation, also of a run in another process. Begins at the event with
   * the offset `from` (default: 0). The run goes on if the reader leaves the stream. The result has an empty `history`.
   * Returns undefined if no run is active. Needs the option `runLog` of the session.
   *
   * @example
   * const session = await agent.session({ id: 'ada', runLog: new MemoryRunLog() });
   * const running = await session.attach({ from: 0 });
   */
  attach(options?: AttachOptions): Promise<RunStream<unknown> | undefined>;
  /**
   * Adds a message to the conversation, after the queued runs and without a run. Tool calls and tool results are refused
   * with a MessageInvalidError.
   */
  append(message: Message): Promise<void>;
  /**
   * Goes back: the next entry follows this one. `null` goes back to the start. Nothing is removed: `entries` has the
   * other branch. The state of extensions stays as it is. Rejects with an EntryInvalidError if the entry is unknown, or lies
   * between tool calls and their results.
   */
  branch(entry: string | null): Promise<void>;
  /**
   * Copies the conversation to a new id, up to an entry or to its end. Returns the summary of the copy. The copy does not
   * run open calls. Rejects with a SessionExistsError if the new id is in use.
   */
  fork(fork: SessionFork): Promise<SessionSummary>;
  /**
   * Waits for the queued runs, then calls `onSessionEnd`. The record stays. Awaiting `close` inside a run of the same
   * session deadlocks.
   */
  close(): Promise<void>;
  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Selects a page of `session.history`. */
export interface HistoryQuery {
  /** The id of the entry that follows the page. */
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
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
export interface SessionHost extends SessionAgent {
  readonly life: AgentLife;
  readonly sessions: { end(session: AgentSession): Promise<void> };
}

interface Queued extends Attached {
  /** True if the caller has entered the queue of the session, and leaves it after the run. */
  readonly isEntered?: boolean | undefined;
}

/** The default of `timeouts.queueMs`. */
const QUEUE_MS = 30_000;
const PAGE = 100;

const historyRules = { before: fullText, limit: whole(1) } satisfies OptionTable<HistoryQuery>;

/** A session: the queue of its runs. */
export class AgentSession implements Session<never> {
  readonly stored: StoredSession;
  private tail: Promise<unknown> = Promise.resolve();
  private closing: Promise<void> | undefined = undefined;

  constructor(
    private readonly host: SessionHost,
    options: SessionOptions,
  ) {
    this.stored = new StoredSession(host, options);
  }

  get id(): string {
    return this.stored.id;
  }

  get messages(): readonly Message[] {
    return this.stored.record.people.messages;
  }

  get entries(): readonly Entry[] {
    return this.stored.record.entries;
  }

  run<Output>(input: string | UserMessage, options?: AnySessionRunOptions): Promise<RunResult<Output>> {
    return this.enqueue(input, options ?? {}, {}) as Promise<RunResult<Output>>;
  }

  stream<Output>(
    input: string | UserMessage,
    options?: AnySessionRunOptions,
    hosted?: Pick<Queued, 'isEntered' | 'orphanMs'>,
  ): RunStream<Output> {
    return new EventStream((consumer) =>
      this.enqueue(input, options ?? {}, { ...consumer, ...hosted }),
    ) as RunStream<Output>;
  }

  async allMessages(): Promise<readonly Message[]> {
    await this.stored.loadAll();
    return this.messages;
  }

  history(query: HistoryQuery = {}): Promise<readonly Entry[]> {
    validateOptions(query, historyRules);
    return this.stored.page(query.before, query.limit ?? PAGE);
  }

  async attach(options: AttachOptions = {}): Promise<RunStream<unknown> | undefined> {
    return attachTo(this.stored, this.host.life.stop, options);
  }

  /** Returns the events of a run from the first one on, until its log is closed. */
  async follow(log: RunLog, runId: string): Promise<RunStream<unknown>> {
    return streamOf(this.stored, { log, runId, from: 0, stop: this.host.life.stop });
  }

  async append(message: Message): Promise<void> {
    checkAddition(message);
    await this.inQueue({}, {}, (wait) => this.add((parent) => ({ parent, body: { type: 'message', message } }), wait));
  }

  async branch(entry: string | null): Promise<void> {
    await this.inQueue({}, {}, async (wait) => {
      if (entry !== null) await this.stored.branchPoint(entry);
      await this.add(() => ({ parent: entry ?? undefined, body: { type: 'head' } }), wait);
    });
  }

  fork(fork: SessionFork): Promise<SessionSummary> {
    return forkSession(this.stored, fork);
  }

  /**
   * Waits for the earlier runs of this conversation in this process, for at most `queueMs`. Then the store decides: a run of
   * a connection that its host has cut never leaves its place, but its claim runs out. The caller has to leave the place.
   */
  async enter(queueMs: number): Promise<QueuePlace> {
    const { stored } = this;
    const place = joinQueue(stored.store, stored.id);
    const earlier = this.tail;
    this.tail = place.left;
    if (place.before === undefined) return place;
    try {
      const free = place.before.then(() => true);
      const isFree = await withinMs(free, queueMs, this.host.defaults.clock);
      if (isFree || (await stored.running()) === undefined) return place;
      throw new SessionBusyError(stored.id, queueMs);
    } catch (error) {
      // The next run waits for the one before this, but the session does not.
      place.leave(place.before);
      if (this.tail === place.left) this.tail = earlier;
      throw error;
    }
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
    options: AnySessionRunOptions,
    attached: Queued,
  ): Promise<RunResult<unknown>> {
    validateOptions(options, sessionRunRules);
    const { timeouts, clock } = this.host.defaults;
    const limit = startLimit(options.timeouts?.runMs ?? timeouts.runMs, clock);
    const limited = { ...attached, limit, session: this };
    try {
      return await this.inQueue(options, limited, (wait) =>
        new OwnedRun(this.stored, options, limited).execute(input, wait),
      );
    } finally {
      limit?.release();
    }
  }

  /** Calls `work` when the earlier runs of this session id have ended in this process. */
  private async inQueue<T>(
    options: AnySessionRunOptions,
    attached: Queued,
    work: (wait: SessionWait) => Promise<T>,
  ): Promise<T> {
    if (this.closing !== undefined) throw new SessionClosedError(this.id);
    for (let run = options.parent; run; run = run.parent) {
      // A session of another agent may have the same id in another store.
      const outer = (run.session as AgentSession | undefined)?.stored;
      if (outer?.id === this.id && outer.store === this.stored.store) throw new SessionReentryError(this.id);
    }
    const { defaults, life } = this.host;
    const { clock, timeouts } = defaults;
    const queueMs = options.timeouts?.queueMs ?? timeouts.queueMs ?? QUEUE_MS;
    const until = clock.now() + queueMs;
    const wait = <R>(promise: Promise<R>) => life.waitBeforeRun(promise, { ...options, ...attached });
    const place = attached.isEntered ? undefined : await this.enterUnlessAborted(queueMs, wait);
    try {
      return await work({ wait, until, queueMs });
    } finally {
      place?.leave(this.stored.ending);
    }
  }

  private async enterUnlessAborted(queueMs: number, wait: SessionWait['wait']): Promise<QueuePlace> {
    const entering = this.enter(queueMs);
    try {
      return await wait(entering);
    } catch (error) {
      entering.then(
        (place) => place.leave(this.stored.ending),
        () => {},
      );
      throw error;
    }
  }

  /** Claims the conversation, adds one entry without a run, and lets go. */
  private async add(
    make: (tip: string | undefined) => Pick<Entry, 'parent' | 'body'>,
    wait: SessionWait,
  ): Promise<void> {
    const { ids, clock } = this.host.defaults;
    const claim = await claimSession(this.stored, { run: ids.next('run') }, wait);
    claim.add({ id: ids.next('entry'), at: clock.now(), ...make(this.stored.record.tip) });
    await claim.release();
  }
}
