import { SessionClosedError, SessionReentryError } from '../../errors.js';
import { withinMs } from '../../internal/clock.js';
import { fullText, whole } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import { checkAddition } from '../../model/check-messages.js';
import type { Message, UserMessage } from '../../model/message.js';
import type { Entry } from '../../state/record/entry.js';
import { joinQueue, type QueuePlace } from '../../state/session-queue.js';
import type { SessionSummary } from '../../state/session-store.js';
import { type AgentLife, startLimit } from '../agent-life.js';
import { type AnySessionRunOptions, type SessionOptions, sessionRunRules } from '../agent-options.js';
import type { RunResult } from '../run-result.js';
import { EventStream, type RunStream } from '../run-stream.js';
import { BackgroundWorks } from './background/works.js';
import { claimSession, type SessionWait } from './claim-session.js';
import { forkSession, type SessionFork } from './fork.js';
import { type AttachOptions, attachTo } from './log/follow-run.js';
import { OwnedRun, type SessionAttached } from './owned-run.js';
import { type SendOptions, type SentMessage, sendMessage } from './sent-message.js';
import type { HistoryQuery, Session } from './session.js';
import { SessionBusyError } from './session-error.js';
import { type BreakOptions, denyPending, type StopOptions, stopRun } from './stop/stop-session.js';
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

/** A session with the queue of its runs. */
export class AgentSession implements Session<never> {
  readonly stored: StoredSession;
  readonly works: BackgroundWorks;
  private tail: Promise<unknown> = Promise.resolve();
  private closing: Promise<void> | undefined = undefined;

  constructor(
    readonly host: SessionHost,
    options: SessionOptions,
  ) {
    this.stored = new StoredSession(host, options);
    this.works = new BackgroundWorks(this.stored, host.life, (post, runOptions) =>
      this.enqueue(runOptions, {}, (run) => run.answer(post)),
    );
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
    return this.enqueue(options ?? {}, {}, (owned) => owned.execute(input)) as Promise<RunResult<Output>>;
  }

  stream<Output>(
    input: string | UserMessage,
    options?: AnySessionRunOptions,
    hosted?: Pick<SessionAttached, 'isEntered' | 'orphanMs' | 'deniesOpen' | 'tools'>,
  ): RunStream<Output> {
    return new EventStream((consumer) =>
      this.enqueue(options ?? {}, { ...consumer, ...hosted }, (owned) => owned.execute(input)),
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

  async append(message: Message): Promise<void> {
    checkAddition(message);
    const make = (parent: string | undefined) => ({ parent, body: { type: 'message', message } }) as const;
    await this.inQueue({}, {}, (wait) => addEntry(this.stored, make, wait));
  }

  send(message: string | UserMessage, options: SendOptions = {}): Promise<SentMessage> {
    return sendMessage(this.stored, { message, options }, (entry) =>
      this.inQueue({}, {}, (wait) => addEntry(this.stored, () => entry, wait)),
    );
  }

  async stop(options: StopOptions = {}): Promise<boolean> {
    const isStopped = await stopRun(this.stored, options);
    if (isStopped !== undefined) return isStopped;
    await this.stored.load();
    if (this.stored.record.pending === undefined) return false;
    return this.inQueue({}, {}, (wait) => denyPending(this.stored, options, wait));
  }

  /** Imports the code on first use, because most programs have no durable runs. */
  async break(options: BreakOptions = {}): Promise<boolean> {
    const { breakClaim } = await import('./stop/break-session.js');
    return breakClaim(this.stored, options);
  }

  async branch(entry: string | null): Promise<void> {
    await this.inQueue({}, {}, async (wait) => {
      if (entry !== null) await this.stored.branchPoint(entry);
      await addEntry(this.stored, () => ({ parent: entry ?? undefined, body: { type: 'head' } }), wait);
    });
  }

  fork(fork: SessionFork): Promise<SessionSummary> {
    return forkSession(this.stored, fork);
  }

  /**
   * Waits up to `queueMs` for the earlier runs of this conversation in this process. Returns the place in the queue,
   * which the caller must leave after its run.
   *
   * After that time, throws a SessionBusyError only if the store knows an active run, because a run that was cut off
   * never leaves the queue.
   */
  async enter(queueMs: number, wait: SessionWait['wait'] = (promise) => promise): Promise<QueuePlace> {
    const place = joinQueue(this.stored.store, this.id);
    const earlier = this.tail;
    this.tail = place.left;
    try {
      await wait(whenFree(this.stored, place.before, queueMs));
      return place;
    } catch (error) {
      // The next run must still wait for the earlier run, although this caller gave up.
      place.leave(place.before);
      if (this.tail === place.left) this.tail = earlier;
      throw error;
    }
  }

  close(): Promise<void> {
    const { life, sessions } = this.host;
    this.closing ??= this.tail.then(() => this.works.close()).then(() => life.track(sessions.end(this)));
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Claims the conversation for a new run, and calls `work` with this run. */
  private async enqueue<T>(
    options: AnySessionRunOptions,
    attached: SessionAttached,
    work: (run: OwnedRun) => Promise<T>,
  ): Promise<T> {
    validateOptions(options, sessionRunRules);
    const { stored: session, works } = this;
    const { timeouts, clock, ids } = this.host.defaults;
    const limit = startLimit(options.timeouts?.runMs ?? timeouts.runMs, clock);
    const limited = { ...attached, limit, session: this };
    try {
      return await this.inQueue(options, limited, async (wait) => {
        const runId = ids.next('run');
        const claimant = { run: runId, by: options.by, claimMs: options.timeouts?.claimMs };
        const claim = await claimSession(session, claimant, wait);
        return work(new OwnedRun({ session, claim, runId, options, attached: limited, works }));
      });
    } finally {
      limit?.release();
    }
  }

  /** Calls `work` after the earlier runs of this session in this process have ended. */
  private async inQueue<T>(
    options: AnySessionRunOptions,
    attached: SessionAttached,
    work: (wait: SessionWait) => Promise<T>,
  ): Promise<T> {
    if (this.closing !== undefined) throw new SessionClosedError(this.id);
    for (let run = options.parent; run; run = run.parent) {
      // Compares the stored session, because a session of another agent may have the same id in another store.
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
}

/** Claims the conversation, adds one entry without a run, and releases the claim. */
async function addEntry(
  session: StoredSession,
  make: (tip: string | undefined) => Pick<Entry, 'body'> & Partial<Entry>,
  wait: SessionWait,
): Promise<void> {
  const { ids, clock } = session.agent.defaults;
  const claim = await claimSession(session, { run: ids.next('run') }, wait);
  const { record } = session;
  const entry = { id: ids.next('entry'), at: clock.now(), ...make(record.tip) };
  // Another process may have added a message with the id of this one before the claim.
  const { body } = entry;
  const sent = (body.type === 'post' && body.post.type === 'message' && body.post.id) || entry.id;
  if (record.get(sent) === undefined) claim.add(entry);
  await claim.release();
}

async function whenFree(session: StoredSession, before: Promise<unknown> | undefined, queueMs: number): Promise<void> {
  const free = before?.then(() => true);
  if (free === undefined || (await withinMs(free, queueMs, session.agent.defaults.clock))) return;
  if ((await session.running()) !== undefined) throw new SessionBusyError(session.id, queueMs);
}
