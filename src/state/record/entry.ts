import type { JsonObject, JsonValue } from '../../internal/json.js';
import type { Message, SuspendedCall, UserMessage } from '../../model/message.js';

/**
 * One entry of the record of a conversation. Entries are added, and never changed or removed. Plain data, serializable
 * as JSON, except that messages may contain bytes.
 */
export interface Entry {
  /** Unique in the conversation. */
  readonly id: string;
  /**
   * For a `message`, a `summary` and a `head`: the previous entry on the path, undefined for the first one.
   *
   * For a `suspended` and a `decision`: the message with the calls, or the suspended answer. A `background`, a `post`
   * and a `dropped` have no parent.
   */
  readonly parent?: string | undefined;
  /** Time in milliseconds since the epoch. */
  readonly at: number;
  /** The id of the run that added the entry. */
  readonly run?: string | undefined;
  /** The name of the agent that the run belongs to. */
  readonly agent?: string | undefined;
  /** Identifies who spoke, decided or stopped. Set by the host. */
  readonly by?: string | undefined;
  /** The ids of the enclosing tool calls, outermost first. Set for an entry of a nested run. */
  readonly path?: readonly string[] | undefined;
  readonly body: EntryBody;
}

/** The content of an entry, by its `type`. Readers skip unknown types. */
export type EntryBody =
  | MessageBody
  | SummaryBody
  | SuspendedBody
  | DecisionBody
  | HeadBody
  | BackgroundBody
  | PostBody
  | DroppedBody
  | FailedBody;

/**
 * A message of the user or the model, or the results of tool calls. The results of one turn may be in several entries.
 */
export interface MessageBody {
  readonly type: 'message';
  readonly message: Message;
  /** The id of the post that sent this message to the run. */
  readonly post?: string | undefined;
  /** The id of the background work whose end this message reports. */
  readonly work?: string | undefined;
  /** The number of the turn in its run. */
  readonly turn?: number | undefined;
  /** Set if the run was stopped during this answer: the id of the stop, or true. */
  readonly stopped?: string | true | undefined;
  /** For a tool result: how often the call has started, if more than once. */
  readonly attempt?: number | undefined;
}

/** From this entry on, the model reads a summary instead of the messages before `from`. */
export interface SummaryBody {
  readonly type: 'summary';
  readonly text: string;
  /**
   * The first message after the summary that the model reads. Undefined if the model reads only the kept messages and
   * the summary.
   */
  readonly from?: string | undefined;
  /** The ids of messages before `from` that the model still reads. */
  readonly keep: readonly string[];
  /** The ids of tool results that the model reads shortened, with the number of characters that it reads. */
  readonly shorten: readonly { readonly id: string; readonly chars: number }[];
}

/** Names the calls that wait for a decision. For a waiting answer, the id is `answer`. */
interface SuspendedBody {
  readonly type: 'suspended';
  readonly calls: readonly SuspendedCall[];
}

/** The decision on an open call, or on the suspended answer. */
interface DecisionBody {
  readonly type: 'decision';
  readonly call: string;
  readonly decision: EntryDecision;
}

/**
 * `approve` runs the call; if `approve` has a value, the call gets these arguments. `again` repeats an interrupted
 * call. `deny` refuses the call with a reason. `result` is the result from the caller that ran the call.
 */
export type EntryDecision =
  | 'approve'
  | 'again'
  | { readonly deny: string }
  | { readonly approve: JsonValue }
  | GivenResult;

/**
 * The result of a call of a tool without `execute`. A string is the text of the result; other values are structured
 * data.
 */
export interface GivenResult {
  readonly result: JsonValue;
  /** True if the tool failed. Then `result` is the reason. */
  readonly isError?: boolean | undefined;
}

/** Goes back: the conversation continues after `parent`. */
interface HeadBody {
  readonly type: 'head';
}

/** The start of a background work. The id of the entry is the id of the work. */
interface BackgroundBody {
  readonly type: 'background';
  readonly label: string;
}

/**
 * A post: an entry that any process may add without the claim of the conversation. It sends a message, or asks to stop
 * a run, or withdraws or edits a message.
 */
export interface PostBody {
  readonly type: 'post';
  readonly post: Post;
}

/** The content of a post, by its `type`. */
export type Post =
  | {
      readonly type: 'message';
      /** The id under which the message was sent. Default: the id of the entry. */
      readonly id?: string | undefined;
      readonly message: UserMessage;
      readonly mayDecide?: boolean | undefined;
      /** Default: `after-turn`. */
      readonly when?: PostWhen | undefined;
      /** The id of the background work whose end the message reports. */
      readonly work?: string | undefined;
    }
  | {
      readonly type: 'stop';
      readonly run: string;
      readonly reason?: string | undefined;
      /** Cancels only one tool call: the ids of its enclosing tool calls and its own id, outermost first. */
      readonly path?: readonly string[] | undefined;
    }
  | { readonly type: 'withdraw'; readonly post: string }
  | { readonly type: 'edit'; readonly post: string; readonly message: UserMessage };

/** The moment at which a message joins a run: at once, after the current turn, or after the answer. */
export type PostWhen = 'now' | 'after-turn' | 'after-answer';

/** Records that a post does not join the conversation, and why. */
interface DroppedBody {
  readonly type: 'dropped';
  readonly post: string;
  readonly why: string;
}

/** The end of a nested run that failed. `error` has the `name`, the `code` and the `message` of its error. */
interface FailedBody {
  readonly type: 'failed';
  readonly error: JsonObject;
}

/** True for an entry on the path: a message, a summary, or a return to an earlier entry. */
export function isOnPath({ body, path }: Entry): boolean {
  const { type } = body;
  return path === undefined && (type === 'message' || type === 'summary' || type === 'head');
}

/** Returns the id of the entry that the next entry follows. */
export function followed({ id, parent, body }: Entry): string | undefined {
  return body.type === 'head' ? parent : id;
}

/** Returns the entries from the first one to `tip`. Stops at an entry that `get` does not find. */
export function pathTo(tip: string | undefined, get: (id: string) => Entry | undefined): readonly Entry[] {
  const path: Entry[] = [];
  for (let entry = tip && get(tip); entry; entry = entry.parent && get(entry.parent)) path.push(entry);
  return path.reverse();
}
