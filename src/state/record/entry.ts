import type { JsonObject, JsonValue } from '../../internal/json.js';
import type { Message, SuspendedCall, UserMessage } from '../../model/message.js';

/**
 * One entry of the record of a conversation, such as a message or a decision. Entries are only added, and never changed
 * or removed. An entry is plain JSON data, except that a message may contain byte arrays.
 */
export interface Entry {
  /** Identifies the entry. Unique in its conversation. */
  readonly id: string;
  /**
   * The id of an earlier entry. For a `message` or a `summary`, this is the entry before it. For a `head`, it is the
   * entry after which the conversation continues. Undefined at the start of the conversation.
   *
   * For a `suspended` or a `decision`, it is the message with the tool calls, or the suspended answer. A `background`,
   * a `post` and a `dropped` have no parent.
   */
  readonly parent?: string | undefined;
  /** The time at which the entry was added, in milliseconds since the epoch. */
  readonly at: number;
  /** The id of the run that added the entry. */
  readonly run?: string | undefined;
  /** The name of the agent whose run added the entry. */
  readonly agent?: string | undefined;
  /** Identifies who sent the message, decided, or stopped the run, such as a user id. Set by the application. */
  readonly by?: string | undefined;
  /**
   * Set only for an entry of a nested run, such as the run of a sub-agent: the ids of the tool calls that contain the
   * run, outermost first.
   */
  readonly path?: readonly string[] | undefined;
  readonly body: EntryBody;
}

/** The content of an entry, distinguished by its `type`. Skip unknown types, because later versions may add some. */
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
 * A message of the user or the model, or results of tool calls. The results of one turn may be spread over several
 * entries.
 */
export interface MessageBody {
  readonly type: 'message';
  readonly message: Message;
  /**
   * Set if a caller sent this message to a running agent: the id of the `post` entry, or the id that the sender chose.
   */
  readonly post?: string | undefined;
  /** Set if this message reports the end of background work: the id of the work. */
  readonly work?: string | undefined;
  /** The number of the turn in which the run added the message. */
  readonly turn?: number | undefined;
  /** Set if the run was stopped while the model wrote this answer: the id of the stop request, or true. */
  readonly stopped?: string | true | undefined;
  /** For a tool result: the number of times that the call was started. Undefined if it was started once. */
  readonly attempt?: number | undefined;
}

/**
 * A summary that replaces older messages for the model. From this entry on, the model reads `text` instead of the
 * messages before `from`.
 */
export interface SummaryBody {
  readonly type: 'summary';
  readonly text: string;
  /**
   * The id of the first message that the summary does not replace. Undefined if the summary replaces every message that
   * `keep` does not list.
   */
  readonly from?: string | undefined;
  /** The ids of messages before `from` that the model still reads, in addition to the summary. */
  readonly keep: readonly string[];
  /**
   * Tool results that the model reads only in part: the id of each result's entry, and the number of characters that
   * the model reads.
   */
  readonly shorten: readonly { readonly id: string; readonly chars: number }[];
}

/**
 * Lists the tool calls that wait for a decision. If an answer waits instead, `calls` has one item with the id `answer`.
 */
interface SuspendedBody {
  readonly type: 'suspended';
  readonly calls: readonly SuspendedCall[];
}

/** A decision on a tool call without a result, or on the suspended answer, for which `call` is `answer`. */
interface DecisionBody {
  readonly type: 'decision';
  readonly call: string;
  readonly decision: EntryDecision;
}

/**
 * A decision on a tool call or an answer. `'approve'` runs the call as it is, and `{ approve }` runs it with other
 * arguments. `'again'` repeats a call that was interrupted.
 *
 * `{ deny }` refuses the call and gives the reason. `{ result }` is the result of a call that the application ran
 * itself.
 */
export type EntryDecision =
  | 'approve'
  | 'again'
  | { readonly deny: string }
  | { readonly approve: JsonValue }
  | GivenResult;

/**
 * The result of a tool call that the application ran, because the tool has no `execute` function. A string is the text
 * of the result; other values are structured data.
 */
export interface GivenResult {
  readonly result: JsonValue;
  /** True if the tool failed. Then `result` describes the failure. */
  readonly isError?: boolean | undefined;
}

/**
 * Goes back in the conversation: the next entry follows the entry `parent`. The entries after `parent` stay in the
 * record.
 */
interface HeadBody {
  readonly type: 'head';
}

/** The start of background work. The id of this entry is also the id of the work. */
interface BackgroundBody {
  readonly type: 'background';
  readonly label: string;
}

/**
 * A message or request to a conversation that another run may be adding entries to. Any process may add a post at any
 * time. A post sends a message, edits or withdraws a sent message, or asks to stop a run.
 */
export interface PostBody {
  readonly type: 'post';
  readonly post: Post;
}

/** The content of a post, distinguished by its `type`. */
export type Post =
  | {
      readonly type: 'message';
      /** The id that the sender gave to the message. Default: the id of the entry. */
      readonly id?: string | undefined;
      readonly message: UserMessage;
      readonly mayDecide?: boolean | undefined;
      /** When the message joins the run. Default: `after-turn`. */
      readonly when?: PostWhen | undefined;
      /** Set if the message reports the end of background work: the id of the work. */
      readonly work?: string | undefined;
    }
  | {
      readonly type: 'stop';
      readonly run: string;
      readonly reason?: string | undefined;
      /**
       * Cancels one tool call instead of the whole run. Lists the ids of the calls that contain it, outermost first,
       * and then its own id.
       */
      readonly path?: readonly string[] | undefined;
    }
  | { readonly type: 'withdraw'; readonly post: string }
  | { readonly type: 'edit'; readonly post: string; readonly message: UserMessage };

/** When a sent message joins a run: at once, after the current turn, or after the final answer. */
export type PostWhen = 'now' | 'after-turn' | 'after-answer';

/**
 * Records that a post was handled without becoming a message of the conversation, and why. For example, its message was
 * withdrawn.
 */
interface DroppedBody {
  readonly type: 'dropped';
  readonly post: string;
  readonly why: string;
}

/** Records that a nested run failed. `error` has the `name`, the `code` and the `message` of the error. */
interface FailedBody {
  readonly type: 'failed';
  readonly error: JsonObject;
}

/**
 * True for an entry that continues the conversation: a message, a summary, or a return to an earlier entry. False for
 * every entry of a nested run.
 */
export function isOnPath({ body, path }: Entry): boolean {
  const { type } = body;
  return path === undefined && (type === 'message' || type === 'summary' || type === 'head');
}

/**
 * Returns the id that the next entry gets as its `parent`: the id of this entry, or for a `head` the id of the entry to
 * which it returns.
 */
export function followed({ id, parent, body }: Entry): string | undefined {
  return body.type === 'head' ? parent : id;
}

/**
 * Returns the entries from the first one to the entry `tip`, found by following `parent` backwards. If `get` does not
 * find an entry, the list begins after it.
 */
export function pathTo(tip: string | undefined, get: (id: string) => Entry | undefined): readonly Entry[] {
  const path: Entry[] = [];
  for (let entry = tip && get(tip); entry; entry = entry.parent && get(entry.parent)) path.push(entry);
  return path.reverse();
}
