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

/** The data of a run that its recorder needs. A nested run has a `path`. */
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
  /** The ids of the interrupted calls that run again. */
  readonly again: readonly string[];
  /** The id for the entry of the input message. */
  readonly inputId: string | undefined;
  readonly by: string | undefined;
  readonly posts: RecordedPosts;
  /** The background works of the session. */
  readonly works: BackgroundWorks;
  /** The options of the run. */
  readonly options: AnySessionRunOptions;
}

/** The messages and stop requests that callers send to a recorded run. */
interface RecordedPosts extends RunPosts {
  /** Returns the sent message behind a message of the run, or undefined if no caller sent it. */
  postOf?(message: Message, isInput: boolean): WaitingMessage | undefined;
}

/** The data about the enclosing run that the entries of a nested run need. */
interface OuterEntries {
  /** The id of the entry with the tool call that started the nested run. */
  readonly outer: string | undefined;
  nextId(): string;
}

/**
 * Returns the start of a nested run for its recorder. A nested run that was suspended continues after its own entries.
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
 * Connects a nested run to the messages of its enclosing run. The messages join only the enclosing run. An urgent
 * message also ends the wait for a person in the nested run.
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
