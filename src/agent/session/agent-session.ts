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
import { type AgentLife, startLimit } from '../agent-life.js';
import { type AnySessionRunOptions, type SessionOptions, sessionRunRules } from '../agent-options.js';
import type { RunResult } from '../run-result.js';
import { EventStream, type RunStream } from '../run-stream.js';
import { claimSession, type SessionWait } from './claim-session.js';
import { forkSession, type SessionFork } from './fork.js';
import { type AttachOptions, attachTo, streamOf } from './log/follow-run.js';
import { OwnedRun, type SessionAttached } from './owned-run.js';
import { type SendOptions, type SentMessage, type StopOptions, sendMessage, stopRun } from './sent-message.js';
import type { HistoryQuery, Session } from './session.js';
import { SessionBusyError } from './session-error.js';
import { type SessionAgent, StoredSession } from './stored-session.js';

/** The members of an agent that a session uses. */
export interface SessionHost extends SessionAgent {
  readonly life: AgentLife;
  readonly sessions: { end(session: AgentSession): Promise<void> };
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
    hosted?: Pick<SessionAttached, 'isEntered' | 'orphanMs' | 'deniesOpen'>,
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

  send(message: string | UserMessage, options: SendOptions = {}): Promise<SentMessage> {
    return sendMessage(this.stored, { message, options }, (entry) =>
      this.inQueue({}, {}, (wait) => this.add(() => entry, wait)),
    );
  }

  stop(options: StopOptions = {}): Promise<boolean> {
    return stopRun(this.stored, options);
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
   * Waits up to `queueMs` for the earlier runs of this conversation in this process. Then the claim in the store decides if
   * the caller may go on: a run that its host has cut off never leaves the queue, but its claim runs out. The caller must leave
   * the returned place.
   */
  async enter(queueMs: number, wait: SessionWait['wait'] = (promise) => promise): Promise<QueuePlace> {
    const place = joinQueue(this.stored.store, this.id);
    const earlier = this.tail;
    this.tail = place.left;
    try {
      await wait(whenFree(this.stored, place.before, queueMs));
      return place;
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
    attached: SessionAttached,
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
    attached: SessionAttached,
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
    const place = attached.isEntered ? undefined : await this.enter(queueMs, wait);
    try {
      return await work({ wait, until, queueMs });
    } finally {
      place?.leave(this.stored.ending);
    }
  }

  /** Claims the conversation, adds one entry without a run, and lets go. */
  private async add(
    make: (tip: string | undefined) => Pick<Entry, 'body'> & Partial<Entry>,
    wait: SessionWait,
  ): Promise<void> {
    const { ids, clock } = this.host.defaults;
    const claim = await claimSession(this.stored, { run: ids.next('run') }, wait);
    const { record } = this.stored;
    const entry = { id: ids.next('entry'), at: clock.now(), ...make(record.tip) };
    // Another process may have added a message with the id of this one before the claim.
    if (record.get(entry.id) === undefined) claim.add(entry);
    await claim.release();
  }
}

async function whenFree(session: StoredSession, before: Promise<unknown> | undefined, queueMs: number): Promise<void> {
  const free = before?.then(() => true);
  if (free === undefined || (await withinMs(free, queueMs, session.agent.defaults.clock))) return;
  if ((await session.running()) !== undefined) throw new SessionBusyError(session.id, queueMs);
}
