import { AgentClosedError, SessionClosedError } from '../../../errors.js';
import { sleep } from '../../../internal/clock.js';
import { logFailure } from '../../../internal/logger.js';
import { Stop } from '../../../internal/stop.js';
import { RunAbortedError } from '../../../lifecycle/run-failure.js';
import type { UserMessage } from '../../../model/message.js';
import type { BackgroundWork } from '../../../tools/tool.js';
import type { AgentLife } from '../../agent-life.js';
import type { AnySessionRunOptions } from '../../agent-options.js';
import type { Claim } from '../claim.js';
import { CLAIM_MS } from '../claim-session.js';
import { postTo } from '../sent-message.js';
import { SessionBusyError } from '../session-error.js';
import type { StoredSession } from '../stored-session.js';
import { removeLost, takeLease } from './lease.js';
import { lostMessage, nameOf, perform } from './perform.js';

/** The pause before the next attempt, if the store failed or the conversation is in use. */
const RETRY_MS = 1_000;

/** A background work that has not ended. */
export interface BackgroundStatus {
  readonly id: string;
  readonly label: string;
  /** The id of the session. */
  readonly session: string;
  /** The time of its start, in milliseconds since the epoch. */
  readonly since: number;
}

/** A background work whose start is stored in the session. */
interface StartedWork extends Pick<BackgroundStatus, 'id' | 'label'> {
  readonly work: BackgroundWork;
  /** The options of the run that has started the work. */
  readonly options: AnySessionRunOptions;
}

interface RunningWork extends StartedWork, BackgroundStatus {
  readonly stop: Stop;
  /** The id of the stored conversation. A new conversation under the same session id has another one. */
  readonly uid: string | undefined;
}

/** The background works that a session has started. */
export class BackgroundWorks {
  private readonly running = new Set<RunningWork>();
  /** The promises of the background works, each with the run that answers its end. */
  private readonly busy = new Set<Promise<void>>();

  /**
   * `wake` starts a run that answers the message about the end of a work, unless another run has already answered it.
   */
  constructor(
    private readonly session: StoredSession,
    private readonly life: AgentLife,
    private readonly wake: (post: string, options: AnySessionRunOptions) => Promise<void>,
  ) {}

  get list(): readonly BackgroundStatus[] {
    return [...this.running].map(({ id, label, session, since }) => ({ id, label, session, since }));
  }

  /** Resolves when all works and the runs that they started have ended. Never rejects. */
  async idle(): Promise<void> {
    while (this.busy.size > 0) await Promise.all(this.busy);
  }

  /** Stops the works, and waits until they have ended. */
  close(): Promise<void> {
    for (const { stop, session } of this.running) stop.stop(new SessionClosedError(session));
    return this.idle();
  }

  /** Starts a work. Resolves once it has its lease. */
  async start(started: StartedWork): Promise<void> {
    const { session, life } = this;
    const { clock, timeouts } = session.agent.defaults;
    const stop = new Stop();
    const ttlMs = started.options.timeouts?.claimMs ?? timeouts.claimMs ?? CLAIM_MS;
    const onLost = () => stop.stop(new RunAbortedError('the lease of the background work was not renewed in time'));
    const removeLease = await takeLease(session, { id: started.id, ttlMs }, onLost);
    stop.followStop(life.stop);
    const { uid } = session.record;
    const work = { ...started, session: session.id, since: clock.now(), stop, uid };
    this.running.add(work);
    const busy = life.track(this.follow(work, removeLease)).finally(() => this.busy.delete(busy));
    this.busy.add(busy);
  }

  /** Adds a message about each work whose process has stopped, so that the model learns of it. */
  async reportLost(claim: Claim): Promise<void> {
    const { session } = this;
    const own = new Set(this.list.map(({ id }) => id));
    for (const [id, label] of session.record.posts.works ?? []) {
      if (own.has(id) || !(await removeLost(session, id))) continue;
      await this.post(id, lostMessage({ id, label }));
      await claim.flush(true);
    }
  }

  /**
   * Waits for the end of a work, adds the message about its end to the session, and starts a run to answer it. Never
   * rejects.
   */
  private async follow(work: RunningWork, removeLease: () => Promise<void>): Promise<void> {
    const { stop } = work;
    const isReported = await this.report(work, await perform(work, this.session.agent.defaults.clock));
    this.running.delete(work);
    stop.release();
    await removeLease().catch((error) => this.log(work, 'has a lease that could not be removed', error));
    if (isReported && !stop.stopped && this.life.isOpen) await this.answer(work);
  }

  /**
   * Adds the message about the end of a work to the session. Tries again while the store fails. Returns false if the
   * conversation was deleted, or if the store still fails after the work was stopped.
   */
  private async report({ id, uid, stop, label }: RunningWork, message: UserMessage): Promise<boolean> {
    const { store, id: session, agent } = this.session;
    for (;;) {
      try {
        // A new conversation may have the id of a deleted one.
        const stored = await store.load(session, { limit: 0 });
        return stored?.uid === uid && (await this.post(id, message));
      } catch (error) {
        if (stop.stopped) {
          this.log({ id, label }, 'has an end that could not be stored', error);
          return false;
        }
        await sleep(RETRY_MS, agent.defaults.clock);
      }
    }
  }

  /**
   * Adds a message about a work to the session. Every process uses the same entry id for the same work, so the store
   * adds only one message.
   */
  private post(work: string, message: UserMessage): Promise<boolean> {
    return postTo(this.session, { id: postOf(work), by: undefined, post: { type: 'message', message, work } });
  }

  private async answer({ id, label, options }: RunningWork): Promise<void> {
    const { signal: _signal, parent: _parent, id: _id, at: _at, by: _by, resume: _resume, ...kept } = options;
    for (;;) {
      try {
        return await this.wake(postOf(id), kept);
      } catch (error) {
        const isOver = [AgentClosedError, SessionClosedError, RunAbortedError].some((type) => error instanceof type);
        if (isOver) return;
        if (!(error instanceof SessionBusyError)) return this.log({ id, label }, 'started a run that failed', error);
        await sleep(RETRY_MS, this.session.agent.defaults.clock);
      }
    }
  }

  private log(work: Pick<BackgroundStatus, 'id' | 'label'>, problem: string, error: unknown): void {
    logFailure(this.session.agent.defaults, `The background work ${nameOf(work)} ${problem}.`, error);
  }
}

function postOf(work: string): string {
  return `${work}:end`;
}
