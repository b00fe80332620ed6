import type { JsonValue } from '../../internal/json.js';
import type { Message, SuspendedCall, UserMessage } from '../../model/message.js';

/**
 * One entry of the record of a conversation. Entries are added, and never changed or removed. Plain data, serializable as
 * JSON except for bytes in messages.
 */
export interface Entry {
  /** Unique in the conversation, posts included. */
  readonly id: string;
  /**
   * For a `message`, a `summary` and a `head`: the entry that it follows, undefined for the first one. For a `suspended` and
   * a `decision`: the message with the calls, or the suspended answer. A `background`, a `post` and a `dropped` have no parent.
   */
  readonly parent?: string | undefined;
  /** Time in milliseconds since the epoch. */
  readonly at: number;
  /** The id of the run that added the entry. */
  readonly run?: string | undefined;
  /** The name of the agent of that run. */
  readonly agent?: string | undefined;
  /** Identifies who spoke, decided or stopped. Set by the host. */
  readonly by?: string | undefined;
  /** The ids of the tool calls that lead to the nested run of the entry, from the outermost. */
  readonly path?: readonly string[] | undefined;
  readonly body: EntryBody;
}

/** The content of an entry, by its `type`. A reader passes over types that it does not know. */
export type EntryBody =
  | MessageBody
  | SummaryBody
  | SuspendedBody
  | DecisionBody
  | HeadBody
  | BackgroundBody
  | PostBody
  | DroppedBody;

/** A message of the person, of the model, or the results of tool calls. Results of one turn may come in several entries. */
export interface MessageBody {
  readonly type: 'message';
  readonly message: Message;
  /** The post that this message joins. */
  readonly post?: string | undefined;
  /** The background work whose end this message tells. */
  readonly work?: string | undefined;
  /** The number of the turn of its run. */
  readonly turn?: number | undefined;
  /** Set if the run was stopped during this answer: the id of the stop, or true. */
  readonly stopped?: string | true | undefined;
  /** Of a tool result: the number of times that the call has begun, if more than once. */
  readonly attempt?: number | undefined;
}

/** From here on, the model reads a summary instead of the messages before `from`. */
export interface SummaryBody {
  readonly type: 'summary';
  readonly text: string;
  /** The first message that the model still reads. Undefined if it reads only the kept messages and the summary. */
  readonly from?: string | undefined;
  /** Messages before `from` that the model still reads. */
  readonly keep: readonly string[];
  /** Results of tools that the model reads shortened, with the number of characters. */
  readonly shorten: readonly { readonly id: string; readonly chars: number }[];
}

/** Names every call that waits for a decision, or the answer, whose id is `answer`. */
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
 * `approve` lets the call run, with other arguments if `approve` holds some. `again` runs a call again that was
 * interrupted. `deny` refuses it with a reason, and `result` is its result, from the caller that ran it.
 */
export type EntryDecision =
  | 'approve'
  | 'again'
  | { readonly deny: string }
  | { readonly approve: JsonValue }
  | GivenResult;

/** The result of a call of a tool without `execute`. A string is the result as it is; other values are its data. */
export interface GivenResult {
  readonly result: JsonValue;
  /** True if the tool failed. Then `result` says why. */
  readonly isError?: boolean | undefined;
}

/** The conversation continues from `parent`. */
interface HeadBody {
  readonly type: 'head';
}

/** A work that continues in the background. The id of the entry is the id of the work. */
interface BackgroundBody {
  readonly type: 'background';
  readonly label: string;
}

/** A message that somebody sent without the claim, or the wish to stop a run, or to take a message back or edit it. */
export interface PostBody {
  readonly type: 'post';
  readonly post: Post;
}

/** The content of a post. */
export type Post =
  | {
      readonly type: 'message';
      /** The id under which the message was sent. Default: the id of the entry. */
      readonly id?: string | undefined;
      readonly message: UserMessage;
      readonly mayDecide?: boolean | undefined;
      /** Default: `after-turn`. */
      readonly when?: PostWhen | undefined;
      /** The background work whose end the message tells. */
      readonly work?: string | undefined;
    }
  | {
      readonly type: 'stop';
      readonly run: string;
      readonly reason?: string | undefined;
      /** Cancels only the tool call that these ids of calls lead to, from the outermost. */
      readonly path?: readonly string[] | undefined;
    }
  | { readonly type: 'withdraw'; readonly post: string }
  | { readonly type: 'edit'; readonly post: string; readonly message: UserMessage };

/** The time at which a message joins a run: at once, after its current turn, or after its answer. */
export type PostWhen = 'now' | 'after-turn' | 'after-answer';

/** A post that will not join, and the reason. */
interface DroppedBody {
  readonly type: 'dropped';
  readonly post: string;
  readonly why: string;
}

/** True for an entry that the next entry follows: a message, a summary, or a return to an earlier entry. */
export function isOnPath({ body, path }: Entry): boolean {
  const { type } = body;
  return path === undefined && (type === 'message' || type === 'summary' || type === 'head');
}

/** Returns the id of the entry that the next one follows, after an entry on the path. */
export function followed({ id, parent, body }: Entry): string | undefined {
  return body.type === 'head' ? parent : id;
}

/** Returns the entries from the first one to `tip`, as far as `get` knows them. */
export function pathTo(tip: string | undefined, get: (id: string) => Entry | undefined): readonly Entry[] {
  const path: Entry[] = [];
  for (let entry = tip && get(tip); entry; entry = entry.parent && get(entry.parent)) path.push(entry);
  return path.reverse();
}
