import { createDeferred } from '../../internal/promise.js';
import type { Message } from '../../model/message.js';
import type { RunError } from '../../model/run-error.js';
import type { Post } from '../../state/record/entry.js';
import { DONE, type WaitingMessage } from '../../state/record/posts.js';
import type { SessionRecord } from '../../state/record/session-record.js';
import { type JoinedRun, type RunPosts, STEERED, type StoppedRun, stoppedError } from '../run/run-posts.js';
import type { Claim, ClaimOwner } from './claim.js';

/**
 * The maximum number of model calls that urgent messages may abandon in one run. Further urgent messages join after the
 * turn.
 */
const MAX_STEERS = 20;

/** The data of a run that its mailbox needs. */
interface MailboxStart {
  readonly record: SessionRecord;
  readonly claim: Claim;
  readonly runId: string;
  readonly now: () => number;
}

/**
 * Handles the messages and stop requests that callers send during a run. A message joins the run, and a stop request
 * ends it.
 */
export class Mailbox implements RunPosts, ClaimOwner {
  steers = 0;
  private run: StoppedRun | undefined = undefined;
  /** The reason of an abort before the run began. */
  private aborted: RunError | undefined = undefined;
  /** The sent message that this run answers as its input. */
  input: WaitingMessage | undefined = undefined;
  /**
   * The id of the run's input message. A message that a caller sends with the same id is the same message, so it does
   * not join the run.
   */
  inputId: string | undefined = undefined;
  /** Rejects the pending wait for the model. Undefined while no model call is running. */
  private interrupt: ((reason: unknown) => void) | undefined = undefined;
  /** Called when an urgent message arrives. */
  private readonly urgent = new Set<() => void>();
  /** Maps each message that has joined the run to the sent message. */
  private readonly joined = new WeakMap<Message, WaitingMessage>();
  /** The ids of the messages and requests that this run has answered. */
  private readonly settled = new Set<string>();

  constructor(private readonly start: MailboxStart) {
    start.claim.owner = this;
  }

  bind(run: StoppedRun): void {
    this.run = run;
    if (this.aborted !== undefined) run.abort(this.aborted);
  }

  abort(error: RunError): void {
    this.aborted ??= error;
    this.run?.abort(error);
  }

  /** Returns the sent message behind a message of the run, or undefined if no caller sent it. */
  postOf(message: Message, isInput: boolean): WaitingMessage | undefined {
    return isInput ? this.input : this.joined.get(message);
  }

  take(posts: readonly Post[]): void {
    const isStop = (post: Post) => post.type === 'stop' && post.run === this.start.runId && post.path === undefined;
    const stop = posts.find(isStop);
    if (stop?.type === 'stop') this.abort(stoppedError(stop.reason));
    // A failure of the store is reported by the next save.
    this.settle().catch(() => {});
    if (!this.isUrgent) return;
    for (const listener of this.urgent) listener();
    if (this.steers < MAX_STEERS) this.interrupt?.(STEERED);
  }

  /** The sent messages that can join the run. Excludes the input, which the run adds itself. */
  private get waiting(): readonly WaitingMessage[] {
    return this.start.record.posts.waiting.filter(({ id }) => id !== this.inputId);
  }

  get isUrgent(): boolean {
    return this.waiting.some(({ when }) => when === 'now');
  }

  onUrgent(listener: () => void): () => void {
    this.urgent.add(listener);
    return () => this.urgent.delete(listener);
  }

  async untilSteered<T>(asking: PromiseLike<T>): Promise<T> {
    const { promise, reject } = createDeferred<never>();
    this.interrupt = reject;
    // The message may have arrived while the turn was prepared.
    if (this.isUrgent && this.steers < MAX_STEERS) reject(STEERED);
    try {
      return await Promise.race([asking, promise]);
    } finally {
      this.interrupt = undefined;
    }
  }

  joinAtStart(run: JoinedRun): void {
    for (const waiting of this.waiting) {
      // The run adds this message as its input. Later messages follow the input.
      if (waiting.id === this.input?.id) return;
      this.push(run, waiting);
    }
  }

  join(run: JoinedRun, isLast: boolean): Promise<void> | undefined {
    return this.start.record.posts.isEmpty ? undefined : this.joinWaiting(run, isLast);
  }

  private async joinWaiting(run: JoinedRun, isLast: boolean): Promise<void> {
    await this.settle();
    const joining = this.waiting.filter(({ when }) => run.answer !== undefined || when !== 'after-answer');
    if (joining.length === 0 || (run.answer !== undefined && isLast)) return;
    run.answer = undefined;
    for (const post of joining) this.push(run, post);
    await run.save();
  }

  private push(run: JoinedRun, post: WaitingMessage): void {
    const { id, by, message, work } = post;
    const { context, conversation, listeners } = run;
    this.joined.set(message, post);
    conversation.push(message);
    if (!listeners.hears('post')) return;
    listeners.emit({ type: 'post', runId: context.id, turn: context.turn, id, by, message, work });
  }

  /**
   * Cancels tool calls. Records the outcome of each cancellation, withdrawal and edit of a message, because its sender
   * waits for the outcome.
   */
  settle(): Promise<void> {
    const { record, claim, runId: run, now } = this.start;
    const settled = [...record.posts.settle(run, (id) => record.get(id)?.body.type === 'message')];
    for (const { post, path, reason } of record.posts.cancels(run)) {
      if (this.settled.has(post)) continue;
      settled.push({ post, why: this.run?.cancel(path, reason) ? DONE : 'That call is not running.' });
    }
    for (const { post, why } of settled) {
      if (this.settled.has(post)) continue;
      this.settled.add(post);
      claim.add({ id: `${post}:dropped`, at: now(), run, body: { type: 'dropped', post, why } });
    }
    return claim.flush();
  }
}
