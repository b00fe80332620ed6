import type { UserMessage } from '../../model/message.js';
import type { Entry, Post, PostWhen } from './entry.js';

/** A message that was sent to a session and is not part of the conversation yet. */
export interface WaitingMessage {
  /** The id under which the message was sent. */
  readonly id: string;
  /** The id of the record entry that contains the sent message. */
  readonly entry: string;
  readonly by: string | undefined;
  readonly message: UserMessage;
  readonly when: PostWhen;
  /** Set if the message reports the end of background work: the id of the work. */
  readonly work: string | undefined;
}

/** The state of a message that was sent to a session. */
export type PostState =
  | { readonly type: 'waiting' }
  /**
   * The entry with the id `entry` has added the message to the conversation. The model reads the message in model call
   * number `modelCall` of the run.
   */
  | { readonly type: 'joined'; readonly entry: string; readonly run: string | undefined; readonly modelCall: number }
  | { readonly type: 'withdrawn' }
  | { readonly type: 'dropped'; readonly why: string };

/** A post that ends without becoming a message of the conversation, and the reason. */
export interface Settled {
  readonly post: string;
  readonly why: string;
}

/**
 * A request to cancel one tool call. `path` ends with the id of the call, after the ids of the calls that contain it.
 */
interface Cancel {
  readonly post: string;
  readonly path: readonly string[];
  readonly reason: string | undefined;
}

/** The stored reason for a request that took effect: a withdrawal, an edit, or the cancellation of a tool call. */
export const DONE = 'done';
const WITHDRAWN = 'withdrawn';
const TOO_LATE = 'The message to edit or withdraw does not wait: it has joined, or was dropped or never sent.';
const SAID = 'The message is in the record already.';
const WAITING: PostState = { type: 'waiting' };

interface OpenPost {
  readonly entry: string;
  readonly post: Post;
  readonly by: string | undefined;
}

/**
 * The posts of a record: messages and requests that any process may send to the run of the conversation. Holds the
 * posts that still wait, and the outcome of the others.
 */
export class Posts {
  private readonly open = new Map<string, OpenPost>();
  private readonly outcomes = new Map<string, PostState>();
  /** The labels of background works that have not reported their end, by id. Undefined until the first work starts. */
  works: Map<string, string> | undefined = undefined;

  /** Adds an entry of the record. Ignores entries that concern neither posts nor background work. */
  add({ id, run, by, body }: Entry): void {
    if (body.type === 'post') {
      const { post } = body;
      this.open.set(idOf(id, post), { entry: id, post, by });
      if (post.type === 'message') this.works?.delete(post.work ?? '');
    } else if (body.type === 'background') {
      this.works ??= new Map();
      this.works.set(id, body.label);
    } else if (body.type === 'dropped') this.drop(body.post, body.why);
    else if (body.type === 'message' && body.post !== undefined) {
      this.end(body.post, { type: 'joined', entry: id, run, modelCall: (body.turn ?? 0) + 1 });
    }
  }

  /** True if every post has been handled. */
  get isEmpty(): boolean {
    return this.open.size === 0;
  }

  /** The messages that wait, with their edits, and without the withdrawn messages. */
  get waiting(): readonly WaitingMessage[] {
    return this.apply(() => false).waiting;
  }

  /** The ids of the entries with messages that no run has handled yet. Includes withdrawn messages. */
  get unhandled(): readonly string[] {
    return [...this.open.values()].flatMap(({ entry, post }) => (post.type === 'message' ? [entry] : []));
  }

  /**
   * Returns the posts that need nothing more from the run, each with the reason why it is closed. These are withdrawals
   * and edits, stops of runs that have ended, and messages that the record already has.
   */
  settle(run: string, isInRecord: (id: string) => boolean): readonly Settled[] {
    const stops = [...this.open].flatMap(([id, { post }]) =>
      post.type === 'stop' && post.run !== run
        ? [{ post: id, why: 'The run that this post should stop is over.' }]
        : [],
    );
    return [...stops, ...this.apply(isInRecord).settled];
  }

  /**
   * Applies the withdrawals and edits to the messages, in the order of the record, so that a later change of a withdrawn
   * message has no effect.
   */
  private apply(isInRecord: (id: string) => boolean) {
    const waiting = new Map<string, WaitingMessage>();
    const settled: Settled[] = [];
    for (const [id, { entry, post, by }] of this.open) {
      if (post.type === 'stop') continue;
      if (post.type === 'message') {
        const { message, when = 'after-turn', work } = post;
        if (isInRecord(id)) settled.push({ post: id, why: SAID });
        else waiting.set(id, { id, entry, by, message, when, work });
        continue;
      }
      const changed = waiting.get(post.post);
      if (changed !== undefined && post.type === 'edit') waiting.set(post.post, { ...changed, message: post.message });
      if (changed !== undefined && post.type === 'withdraw') {
        waiting.delete(post.post);
        settled.push({ post: post.post, why: WITHDRAWN });
      }
      settled.push({ post: id, why: changed === undefined ? TOO_LATE : DONE });
    }
    return { waiting: [...waiting.values()], settled };
  }

  /** Returns the requests to cancel single tool calls of a run. */
  cancels(run: string): readonly Cancel[] {
    return [...this.open].flatMap(([id, { post }]) =>
      post.type === 'stop' && post.path !== undefined && post.run === run
        ? [{ post: id, path: post.path, reason: post.reason }]
        : [],
    );
  }

  /** Returns the state of a post. Undefined if the loaded entries do not contain the post. */
  stateOf(id: string): PostState | undefined {
    return this.outcomes.get(id) ?? (this.open.has(id) ? WAITING : undefined);
  }

  private drop(id: string, why: string): void {
    const { post } = this.open.get(id) ?? {};
    const edited = post?.type === 'edit' && why === DONE ? this.open.get(post.post) : undefined;
    if (post?.type === 'edit' && edited?.post.type === 'message') {
      this.open.set(post.post, { ...edited, post: { ...edited.post, message: post.message } });
    }
    this.end(id, why === WITHDRAWN ? { type: 'withdrawn' } : { type: 'dropped', why });
  }

  private end(id: string, outcome: PostState): void {
    this.open.delete(id);
    this.outcomes.set(id, outcome);
  }
}

function idOf(entry: string, post: Post): string {
  return (post.type === 'message' && post.id) || entry;
}
