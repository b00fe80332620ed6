import { ResumeInvalidError } from '../../../errors.js';
import { checkMessages, type OpenCalls } from '../../../model/check-messages.js';
import type { Message } from '../../../model/message.js';
import { ANSWER } from '../../../state/record/decisions.js';

/** The decision on a suspended tool call or answer. */
export type ResumeDecision = 'approve' | 'deny' | { readonly deny: string };

/**
 * A decision for each open tool call by call id, or for a suspended answer under the id `answer`. The type accepts any
 * string, so that `Object.fromEntries` compiles. A run refuses every string except 'approve' and 'deny'.
 */
export type ResumeDecisions = Readonly<Record<string, ResumeDecision | (string & Record<never, never>)>>;

/** The open tool calls of a conversation, with a decision for each call. */
export interface ResumedCalls extends OpenCalls {
  readonly decisions: ResumeDecisions;
  /** The messages after the open calls. They are added again after the results of the calls. */
  readonly later: readonly Message[];
}

/** The messages that a run continues from, and what a suspended run left open: tool calls, or its answer. */
export interface Continuation {
  /** The messages up to the open calls. Known results of that turn are added again together with the new results. */
  readonly history: readonly Message[];
  readonly calls?: ResumedCalls | undefined;
  readonly answer?: DecidedAnswer | undefined;
}

/** A suspended answer, by its position in the history, and the decision on it. */
export interface DecidedAnswer {
  readonly index: number;
  readonly decision: ResumeDecision;
}

/**
 * Checks the messages that a run starts from. Skips the first `closed` of them, which have been checked. Each tool call
 * without a result must have a decision, and no other call may have one. Otherwise throws ResumeInvalidError.
 */
export function continueFrom(
  messages: readonly Message[],
  resume: ResumeDecisions | undefined,
  closed?: number,
): Continuation {
  const decisions = resume ?? {};
  const open = checkMessages(messages, closed);
  if (open !== undefined) {
    const ids = open.open.map((call) => call.id);
    assertDecided(ids, decisions, 'open tool calls');
    const later = messages.slice(open.index + 1).filter((message) => message.role !== 'tool');
    return { history: messages.slice(0, open.index + 1), calls: { ...open, decisions, later } };
  }
  const index = suspendedAnswer(messages);
  assertDecided(index === undefined ? [] : [ANSWER], decisions, 'a suspended answer');
  const answer = index === undefined ? undefined : { index, decision: decisions[ANSWER] as ResumeDecision };
  return { history: messages, answer };
}

/** Returns the index of the last answer if it is suspended. Messages of the user may follow. */
function suspendedAnswer(messages: readonly Message[]): number | undefined {
  const index = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  const last = messages[index];
  return last?.role === 'assistant' && last.suspended ? index : undefined;
}

/** Throws a ResumeInvalidError unless the decisions are on exactly these ids. */
function assertDecided(ids: readonly string[], decisions: ResumeDecisions, what: string): void {
  const refuse = (wrong: readonly string[], problem: (ids: string) => string) => {
    if (wrong.length > 0) throw new ResumeInvalidError(problem(wrong.map((id) => `"${id}"`).join(', ')), wrong);
  };
  const unknown = Object.keys(decisions).filter((id) => !ids.includes(id));
  if (ids.length === 0) refuse(unknown, (list) => `No call is open, but \`resume\` decides on ${list}.`);
  refuse(
    ids.filter((id) => !Object.hasOwn(decisions, id)),
    (list) => `The messages end in ${what}. In \`resume\`, set 'approve' or 'deny' for each id: ${list}.`,
  );
  refuse(unknown, (list) => `\`resume\` decides on calls that are not open: ${list}.`);
  refuse(
    ids.filter((id) => !isDecision(decisions[id])),
    (list) => `The decision on ${list} must be 'approve', 'deny' or { deny: reason }.`,
  );
}

/** True for 'approve', 'deny' and `{ deny: reason }`. */
export function isDecision(decision: unknown): boolean {
  if (decision === 'approve' || decision === 'deny') return true;
  return typeof (decision as { deny?: unknown } | null | undefined)?.deny === 'string';
}
