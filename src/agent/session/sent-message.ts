import { sleep } from '../../internal/clock.js';
import { fullText, oneOf, text } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { UserMessage } from '../../model/message.js';
import type { Entry, Post, PostWhen } from '../../state/record/entry.js';
import { DONE, type PostState } from '../../state/record/posts.js';
import { knows } from '../../state/record/session-record.js';
import { userMessageOf } from '../run/start-run.js';
import { SessionStoreError } from './session-error.js';
import { postEntryId, type StoredSession } from './stored-session.js';

/**
 * Options of `session.send`.
 *
 * @example
 * await session.send('Wait: in euros, please.', { when: 'now', by: 'ada' });
 */
export interface SendOptions {
  /**
   * `now` abandons the running model call, and keeps the text that it has shown. `after-turn` waits for the end of the
   * turn, `after-answer` for the answer. A tool call is never abandoned. Default: `after-turn`.
   */
  readonly when?: PostWhen | undefined;
  /** Identifies the message, so that sending it again has no effect. Default: a generated id. */
  readonly id?: string | undefined;
  /** Identifies who speaks, for the record. */
  readonly by?: string | undefined;
}

/** A message that was sent to a session, with its state. */
export interface SentMessage {
  readonly id: string;
  /** Reads the state of the message from the store: waiting, joined, withdrawn or dropped. */
  state(): Promise<PostState>;
  /** Withdraws the message. Resolves with false if the message does not wait any more. */
  cancel(): Promise<boolean>;
  /** Replaces the message. Resolves with false if the message does not wait any more. */
  edit(message: string | UserMessage): Promise<boolean>;
}

const sendRules = {
  when: oneOf('now', 'after-turn', 'after-answer'),
  id: fullText,
  by: text,
} satisfies OptionTable<SendOptions>;

/** Milliseconds between two checks whether the active run has handled a message. */
export const LOOK_MS = 50;

/**
 * Sends a message to a session without claiming the conversation, so that it reaches an active run. `begin` stores the
 * first entry of a new conversation.
 *
 * Rejects with a SessionStoreError.
 */
export async function sendMessage(
  session: StoredSession,
  { message, options }: { readonly message: string | UserMessage; readonly options: SendOptions },
  begin: (entry: Pick<Entry, 'id' | 'body' | 'by'>) => Promise<void>,
): Promise<SentMessage> {
  validateOptions(options, sendRules);
  const { when, by, id = session.agent.defaults.ids.next('entry') } = options;
  const post: Post = { type: 'message', id, message: userMessageOf(message), ...(when !== undefined && { when }) };
  const entry = postEntryId(id);
  const stored = await postTo(session, { id: entry, by, post });
  if (!stored) await begin({ id: entry, by, body: { type: 'post', post } });
  return new Receipt(session, id, by);
}

/** Adds a message or a stop request to a conversation. Resolves with false if the conversation does not exist yet. */
export async function postTo(
  { store, id: session, agent }: StoredSession,
  { id, by, post }: { readonly id: string; readonly by: string | undefined; readonly post: Post },
): Promise<boolean> {
  const at = agent.defaults.clock.now();
  try {
    const answer = await store.post(session, { id, at, ...(by !== undefined && { by }), body: { type: 'post', post } });
    return answer !== undefined;
  } catch (error) {
    throw new SessionStoreError(session, 'saved', error);
  }
}

/** Reads and changes the state of a sent message. */
export class Receipt implements SentMessage {
  constructor(
    private readonly session: StoredSession,
    readonly id: string,
    private readonly by?: string,
  ) {}

  async state(): Promise<PostState> {
    const { session, id } = this;
    await session.load();
    const { record } = session;
    // The message may be in front of a summary, so its entry may not be loaded.
    if (!knows(record, id)) await session.loadAll();
    if (this.isTakenBack && (await session.running()) === undefined) {
      // The last run may have added the message before it read the withdrawal.
      await session.load();
      if (this.isTakenBack) return { type: 'withdrawn' };
    }
    // A run may have added the message with its own id.
    const { run, body } = record.get(id) ?? {};
    const state = body === undefined ? record.posts.stateOf(id) : undefined;
    const turn = body?.type === 'message' ? (body.turn ?? 0) : 0;
    return state ?? { type: 'joined', entry: id, run, modelCall: turn + 1 };
  }

  cancel(): Promise<boolean> {
    return this.change({ type: 'withdraw', post: this.id });
  }

  edit(message: string | UserMessage): Promise<boolean> {
    return this.change({ type: 'edit', post: this.id, message: userMessageOf(message) });
  }

  /** True if the message was withdrawn, and no run has confirmed the withdrawal yet. */
  private get isTakenBack(): boolean {
    const { posts } = this.session.record;
    return posts.stateOf(this.id)?.type === 'waiting' && !posts.waiting.some(({ id }) => id === this.id);
  }

  /**
   * Sends a change of a waiting message. Resolves with true once the change is certain, and with false if the message
   * does not wait any more.
   */
  private async change(post: Post): Promise<boolean> {
    const { session, by } = this;
    const { ids, clock } = session.agent.defaults;
    const id = ids.next('entry');
    await postTo(session, { id, by, post });
    for (;;) {
      const isOwned = (await session.running()) !== undefined;
      await session.load();
      const { posts } = session.record;
      const state = posts.stateOf(id);
      if (state?.type === 'dropped') return state.why === DONE;
      // The next run handles the posts in order, before any message joins.
      if (!isOwned) return posts.settle('', () => false).some((settled) => settled.post === id && settled.why === DONE);
      await sleep(LOOK_MS, clock);
    }
  }
}
