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

/** The place in the record where a run begins. A nested run has a `path`. */
export interface RecordedStart extends EntryOrigin {
  readonly record: SessionRecord;
  /** The messages that the run continues from. */
  readonly model: MessageList;
  /** The calls that the run resumes. */
  readonly open: OpenTurn | undefined;
  /** True if calls or an answer wait for the decisions. */
  readonly waits: boolean;
  /** True for a nested run that does not wait for it. Nobody decides on what such a run waits for. */
  readonly neverWaits?: boolean | undefined;
  /** Calls that are known to have begun before. */
  readonly again: readonly string[];
  /** The id of the entry of the input. */
  readonly inputId: string | undefined;
  readonly by: string | undefined;
  readonly posts: RecordedPosts;
  /** The background works of the session. */
  readonly works: BackgroundWorks;
  /** The options of the run. */
  readonly options: AnySessionRunOptions;
}

/** The posts of a run that joins them. */
interface RecordedPosts extends RunPosts {
  /** Returns the post of a message that has joined. */
  postOf?(message: Message, isInput: boolean): WaitingMessage | undefined;
}

/** The run around a nested run, as far as the entries of that run need it. */
interface OuterEntries {
  /** The entry with the call that the run is inside. */
  readonly outer: string | undefined;
  nextId(): string;
}

/** Returns the place of a nested run in the record of the enclosing run. It continues from its own entries if it has waited. */
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

/** The posts of a nested run. Messages join the enclosing run; one that must not wait also ends a question of the nested run. */
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
