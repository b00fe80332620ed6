import type { JsonValue } from '../../internal/json.js';
import { withEdit } from '../../model/edited-call.js';
import type { AssistantMessage, SuspendedCall } from '../../model/message.js';
import { ANSWER } from '../../model/waiting.js';
import type { Entry, EntryDecision, GivenResult } from './entry.js';
import type { AnswerState, MessageList } from './message-list.js';

/** The tool calls of one message that wait for a person's decision, or a final answer that waits for one. */
export interface Suspension {
  /** The id of the record entry with the message that contains these calls or this answer. */
  readonly entry: string;
  /** The id of the run that stopped to wait for the decision. */
  readonly run: string | undefined;
  readonly calls: readonly SuspendedCall[];
}

interface Decision {
  readonly decision: EntryDecision;
  /** The id of the run that began with the decision. */
  readonly run: string | undefined;
  /** The number of suspensions in the record before this decision. Shows whether a later suspension asks again. */
  readonly after: number;
}

/**
 * The suspensions in a record, and the decisions on them. A suspension is a tool call or an answer that waits for a
 * decision.
 */
export class Decisions {
  /**
   * The latest suspension of each entry, by entry id. `number` counts the suspensions of the record, up to this one.
   */
  private readonly suspensions = new Map<string, Suspension & { readonly number: number }>();
  /** The decisions on each tool call or answer, oldest first, by the key of `keyOf`. */
  private readonly decided = new Map<string, Decision[]>();
  /** The ids of the runs that began with the denial of an answer. */
  private readonly denying = new Set<string>();
  /** The ids of the entries with tool calls whose arguments a person changed. */
  private readonly edited = new Set<string>();
  private suspended = 0;

  /** Adds an entry of the record. Ignores the entry and returns false if it is neither a suspension nor a decision. */
  add({ body, parent: entry = '', run }: Entry): boolean {
    if (body.type === 'suspended') {
      this.suspended += 1;
      this.suspensions.delete(entry);
      this.suspensions.set(entry, { entry, run, calls: body.calls, number: this.suspended });
      return true;
    }
    if (body.type !== 'decision') return false;
    const { call, decision } = body;
    const key = keyOf(entry, call);
    this.decided.set(key, [...(this.decided.get(key) ?? []), { decision, run, after: this.suspended }]);
    if (editOf(decision) !== undefined) this.edited.add(entry);
    if (run !== undefined && call === ANSWER && denialOf(decision) !== undefined) this.denying.add(run);
    return true;
  }

  /** Returns the latest suspension of the messages in a list, without the calls that already have a decision. */
  undecidedIn(list: MessageList): Suspension | undefined {
    const latest = [...this.suspensions.values()].findLast(({ entry }) => list.indexOf(entry) >= 0);
    if (latest === undefined) return undefined;
    const { entry, run, number } = latest;
    const isDecided = (call: string) => (this.decisionsOn(entry, call).at(-1)?.after ?? 0) >= number;
    return { entry, run, calls: latest.calls.filter(({ id }) => !isDecided(id)) };
  }

  /**
   * Returns how often a tool call has been started: once, and once more for each decision `again`, which repeats an
   * interrupted call.
   */
  attemptOf(entry: string, call: string): number {
    return 1 + this.decisionsOn(entry, call).filter(({ decision }) => decision === 'again').length;
  }

  /**
   * Returns the reason for which a call or an answer was denied. An empty string means denied without a reason;
   * undefined means not denied.
   */
  denialOf(entry: string, call: string): string | undefined {
    return denialOf(this.decisionsOn(entry, call).at(-1)?.decision);
  }

  /**
   * Returns the result that the application gave instead of a decision, because it ran the call itself. Undefined
   * without such a result.
   */
  resultOf(entry: string, call: string): GivenResult | undefined {
    const decision = this.decisionsOn(entry, call).at(-1)?.decision;
    return typeof decision === 'object' && 'result' in decision ? decision : undefined;
  }

  /** Returns the id of the run that began with the approval of an answer. Undefined without an approval. */
  approvalOf(entry: string): string | undefined {
    const latest = this.decisionsOn(entry, ANSWER).at(-1);
    return latest?.decision === 'approve' ? latest.run : undefined;
  }

  /**
   * True if the run began with the denial of an answer. The first message of such a run tells the model about the
   * denial.
   */
  hasDenied(run: string): boolean {
    return this.denying.has(run);
  }

  /** Returns the message with the tool arguments that a person changed, in place of the model's own arguments. */
  withEdits(entry: string, message: AssistantMessage): AssistantMessage {
    if (!this.edited.has(entry)) return message;
    const content = message.content.map((part) => {
      if (part.type !== 'tool-call') return part;
      const edit = this.decisionsOn(entry, part.id).findLast(({ decision }) => editOf(decision) !== undefined);
      return edit === undefined ? part : withEdit(part, editOf(edit.decision));
    });
    return { ...message, content };
  }

  /**
   * Updates the message of an entry in a list after a suspension or a decision. Marks an answer as suspended or denied,
   * or removes the mark, and applies tool arguments that a person changed.
   */
  mark(list: MessageList, entry: string): void {
    if (this.suspensions.get(entry)?.calls[0]?.id === ANSWER) list.mark(entry, this.stateOf(entry));
    else if (this.edited.has(entry)) list.replace(entry, (message) => this.withEdits(entry, message));
  }

  markAll(list: MessageList): void {
    for (const entry of this.suspensions.keys()) this.mark(list, entry);
  }

  private stateOf(entry: string): AnswerState {
    const decided = this.decisionsOn(entry, ANSWER).at(-1);
    if (decided === undefined) return 'suspended';
    return decided.decision === 'approve' ? undefined : 'denied';
  }

  private decisionsOn(entry: string, call: string): readonly Decision[] {
    return this.decided.get(keyOf(entry, call)) ?? [];
  }
}

function keyOf(entry: string, call: string): string {
  return JSON.stringify([entry, call]);
}

function denialOf(decision: EntryDecision | undefined): string | undefined {
  return typeof decision === 'object' && 'deny' in decision ? decision.deny : undefined;
}

function editOf(decision: EntryDecision): JsonValue | undefined {
  return typeof decision === 'object' && 'approve' in decision ? decision.approve : undefined;
}
