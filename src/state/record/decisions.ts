import type { DecisionBody, Entry, SuspendedCall } from './entry.js';
import type { AnswerState, MessageList } from './message-list.js';

/** The id under which a suspended answer waits for a decision. */
export const ANSWER = 'answer';

/** Calls of one message that wait for a decision, or an answer that does. */
export interface Suspension {
  /** The id of the entry with the calls, or of the answer. */
  readonly entry: string;
  /** The run that was suspended. */
  readonly run: string | undefined;
  readonly calls: readonly SuspendedCall[];
}

interface Decision extends DecisionBody {
  readonly entry: string;
}

/** The latest suspension of a record, and the decisions. */
export class Decisions {
  latest: Suspension | undefined = undefined;
  private readonly all: Decision[] = [];
  /** The decisions after the latest suspension. */
  private since: Decision[] = [];

  /** Takes an entry into account. Returns false if it is neither a suspension nor a decision. */
  add({ body, parent: entry = '', run }: Entry): boolean {
    if (body.type === 'suspended') {
      this.latest = { entry, run, calls: body.calls };
      this.since = [];
      return true;
    }
    if (body.type !== 'decision') return false;
    const decision = { ...body, entry };
    this.all.push(decision);
    this.since.push(decision);
    return true;
  }

  /** True if a call of the latest suspension was decided on since. */
  isDecided(id: string): boolean {
    return this.since.some(({ entry, call }) => entry === this.latest?.entry && call === id);
  }

  /** Returns how often a call has begun: once, and once more for each decision to run it again. */
  attemptOf(entry: string, call: string): number {
    return 1 + this.all.filter((one) => one.entry === entry && one.call === call && one.decision === 'again').length;
  }

  /** Marks an answer as suspended or denied, or as an answer again. */
  mark(list: MessageList, entry: string): void {
    const state = this.stateOf(entry);
    if (state !== 'none') list.mark(entry, state);
  }

  markAll(list: MessageList): void {
    for (const { entry } of [...this.all, ...(this.latest === undefined ? [] : [this.latest])]) this.mark(list, entry);
  }

  private stateOf(entry: string): AnswerState | 'none' {
    const decided = this.all.findLast((one) => one.entry === entry && one.call === ANSWER);
    if (decided !== undefined) return decided.decision === 'approve' ? undefined : 'denied';
    return this.latest?.entry === entry && this.latest.calls[0]?.id === ANSWER ? 'suspended' : 'none';
  }
}
