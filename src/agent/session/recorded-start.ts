import type { Message } from '../../model/message.js';
import type { MessageList } from '../../state/record/message-list.js';
import type { OpenTurn } from '../../state/record/nested-runs.js';
import type { WaitingMessage } from '../../state/record/posts.js';
import { recordInside, type SessionRecord } from '../../state/record/session-record.js';
import type { AnySessionRunOptions } from '../agent-options.js';
import type { NestedPlace } from '../run/run-parts.js';
import type { RunPosts } from '../run/run-posts.js';
import type { BackgroundWorks } from './background/works.js';
import type { EntryOrigin } from './entry-writer.js';

/** The place in the record where a run starts. A nested run has a `path`. */
export interface RecordedStart extends EntryOrigin {
  readonly record: SessionRecord;
  /** The messages from which the run continues. */
  readonly model: MessageList;
  /** The calls that the run resumes. */
  readonly open: OpenTurn | undefined;
  /** True if open calls or an open answer wait for decisions. */
  readonly waits: boolean;
  /** True for a nested run whose tool call does not wait for it. Nobody can decide on the calls of such a run. */
  readonly neverWaits?: boolean | undefined;
  /** The ids of the calls that had begun before. */
  readonly again: readonly string[];
  /** The id of the input's entry. */
  readonly inputId: string | undefined;
  readonly by: string | undefined;
  readonly posts: RecordedPosts;
  /** The background works of the session. */
  readonly works: BackgroundWorks;
  /** The options of the run. */
  readonly options: AnySessionRunOptions;
}

/** The messages and stops that callers send to a recorded run. */
interface RecordedPosts extends RunPosts {
  /** Returns the waiting message from which a message of the run came. */
  postOf?(message: Message, isInput: boolean): WaitingMessage | undefined;
}

/** The members of the enclosing run that the entries of a nested run need. */
interface OuterEntries {
  /** The entry with the tool call that started the nested run. */
  readonly outer: string | undefined;
  nextId(): string;
}

/**
 * Returns the place of a nested run in the record of the enclosing run. A nested run that has waited continues from its
 * own entries.
 */
export function nestedStart(start: RecordedStart, place: NestedPlace, { outer, nextId }: OuterEntries): RecordedStart {
  const { runId, agent, path, messages } = place;
  const neverWaits = start.neverWaits || !place.canWait;
  const known = start.record.nested.get(runId)?.record;
  const posts = new NestedPosts(start.posts);
  const own = { runId, agent, path, nextId, inputId: undefined, again: [], posts, neverWaits };
  if (messages === undefined || known === undefined) {
    const record = recordInside(start.record.nested);
    return { ...start, ...own, record, model: record.model, tip: outer, open: undefined, waits: false };
  }
  const { openTurn: open, pending, tip, model } = known;
  return {
    ...start,
    ...own,
    record: known,
    model: model.with(messages),
    tip,
    open,
    waits: (open ?? pending) !== undefined,
  };
}

/**
 * The messages and stops of a nested run. Messages join the enclosing run. An urgent message also ends a question of
 * the nested run.
 */
class NestedPosts implements RecordedPosts {
  steers = 0;

  constructor(private readonly outer: RunPosts) {}

  get isUrgent(): boolean {
    return this.outer.isUrgent;
  }

  onUrgent(listener: () => void): () => void {
    return this.outer.onUrgent(listener);
  }

  async untilSteered<T>(asking: PromiseLike<T>): Promise<T> {
    return asking;
  }

  bind(): void {}

  joinAtStart(): void {}

  join(): undefined {
    return undefined;
  }
}
