import type { UserMessage } from '../../model/message.js';
import type { Entry, Post, PostWhen } from './entry.js';

/** A message that waits to join the conversation. */
export interface WaitingMessage {
  /** The id of the post. */
  readonly id: string;
  /** The id of the entry that holds the post. */
  readonly entry: string;
  readonly by: string | undefined;
  readonly message: UserMessage;
  readonly when: PostWhen;
  /** The id of the background work whose end the message reports. */
  readonly work: string | undefined;
}

/** The state of a message that was sent to a session. */
export type PostState =
  | { readonly type: 'waiting' }
  /** The message has joined as the entry `entry`. The model reads it in model call `modelCall` of the run. */
  | { readonly type: 'joined'; readonly entry: string; readonly run: string | undefined; readonly modelCall: number }
  | { readonly type: 'withdrawn' }
  | { readonly type: 'dropped'; readonly why: string };

/** A post that the owner of the conversation has handled, and the reason why the post does not join. */
export interface Settled {
  readonly post: string;
  readonly why: string;
}

/** A request to cancel a tool call. */
interface Cancel {
  readonly post: string;
  readonly path: readonly string[];
  readonly reason: string | undefined;
}

/** The reason of a withdrawal, an edit or a cancel that took effect. */
export const DONE = 'done';
const WITHDRAWN = 'withdrawn';
const SAID = 'The message is in the record already.';
const WAITING: PostState = { type: 'waiting' };

interface OpenPost {
  readonly entry: string;
  readonly post: Post;
  readonly by: string | undefined;
}

/** The posts of a record: the posts that wait for the owner of the conversation, and the outcome of the others. */
export class Posts {
  private readonly open = new Map<string, OpenPost>();
  private readonly outcomes = new Map<string, PostState>();
  /** The labels of the background works whose end is not reported yet, by id. Undefined before the first work. */
  works: Map<string, string> | undefined = undefined;

  /** Adds an entry. Ignores entries that are not about posts. */
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

  /** True if no post waits for the owner. */
  get isEmpty(): boolean {
    return this.open.size === 0;
  }

  get waiting(): readonly WaitingMessage[] {
    return [...this.open].flatMap(([id, { entry, post, by }]) =>
      post.type === 'message'
        ? [{ id, entry, by, message: post.message, when: post.when ?? 'after-turn', work: post.work }]
        : [],
    );
  }

  /**
   * Returns how the owner settles the waiting posts that need no run: withdrawals, edits, stops of other runs, and
   * messages that have been added under their own id.
   */
  settle(run: string, isInRecord: (id: string) => boolean): readonly Settled[] {
    return [...this.open].flatMap(([id, { post }]) => {
      if (post.type === 'message') return isInRecord(id) ? [{ post: id, why: SAID }] : [];
      if (post.type === 'stop') return post.run === run ? [] : [{ post: id, why: 'That run is over.' }];
      if (this.open.get(post.post)?.post.type !== 'message') {
        return [{ post: id, why: 'The message does not wait any more.' }];
      }
      const done = { post: id, why: DONE };
      return post.type === 'edit' ? [done] : [{ post: post.post, why: WITHDRAWN }, done];
    });
  }

  /** Returns the tool calls of a run that posts ask to cancel. */
  cancels(run: string): readonly Cancel[] {
    return [...this.open].flatMap(([id, { post }]) =>
      post.type === 'stop' && post.path !== undefined && post.run === run
        ? [{ post: id, path: post.path, reason: post.reason }]
        : [],
    );
  }

  /** Returns the state of a post. Undefined if the post is not in the loaded part of the record. */
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
