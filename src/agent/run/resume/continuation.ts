import { ResumeInvalidError } from '../../../errors.js';
import { checkMessages, type OpenCalls } from '../../../model/check-messages.js';
import type { Message } from '../../../model/message.js';

/** The messages that a run starts from. */
export interface StartMessages {
  readonly messages: readonly Message[];
  /** The number of messages, from the first one, that have been checked and whose tool calls have results. */
  readonly closed?: number | undefined;
}

/** The decision on a suspended tool call or answer. */
export type ResumeDecision = 'approve' | 'deny' | { readonly deny: string };

/**
 * A decision for each open tool call by call id, or for a suspended answer under the id `answer`. The type accepts any string, so that `Object.fromEntries` compiles. A
 * run refuses every string except 'approve' and 'deny'.
 */
export type ResumeDecisions = Readonly<Record<string, ResumeDecision | (string & Record<never, never>)>>;

/** The open tool calls of a conversation, with a decision for each call. */
export interface ResumedCalls extends OpenCalls {
  readonly decisions: ResumeDecisions;
  /** The messages after the open calls. They are added again after the results of the calls. */
  readonly later: readonly Message[];
}

/** The messages that a run continues from, and their open tool calls. */
export interface Continuation {
  /** The messages up to the open calls. Known results of that turn are added again together with the new results. */
  readonly history: readonly Message[];
  readonly resumed: ResumedCalls | undefined;
  /** The decision on the suspended answer of the last turn. */
  readonly answer?: DecidedAnswer | undefined;
}

/** A suspended answer, by its position in the history, and the decision on it. */
export interface DecidedAnswer {
  readonly index: number;
  readonly decision: ResumeDecision;
}

/**
 * Checks the messages that a run starts from. Each open tool call must have a decision, and no other call may have one.
 * Otherwise throws ResumeInvalidError.
 */
export function continueFrom(
  { messages, closed }: StartMessages,
  decisions: ResumeDecisions | undefined,
): Continuation {
  const open = checkMessages(messages, closed);
  if (open !== undefined) {
    assertDecided(
      open.open.map((call) => call.id),
      { decisions, what: 'open tool calls' },
    );
    const later = messages.slice(open.index + 1).filter((message) => message.role !== 'tool');
    return {
      history: messages.slice(0, open.index + 1),
      resumed: { ...open, decisions: decisions as ResumeDecisions, later },
    };
  }
  const index = suspendedAnswer(messages);
  assertDecided(index === undefined ? [] : [ANSWER], { decisions, what: 'a suspended answer' });
  const answer = index === undefined ? undefined : { index, decision: decisions?.[ANSWER] as ResumeDecision };
  return { history: messages, resumed: undefined, answer };
}

/** Returns the index of the last answer if it is suspended. Messages of the user may follow. */
function suspendedAnswer(messages: readonly Message[]): number | undefined {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index] as Message;
    if (message.role === 'tool') return undefined;
    if (message.role === 'assistant') return message.suspended === true ? index : undefined;
  }
  return undefined;
}

const ANSWER = 'answer';

/** Throws a ResumeInvalidError unless the decisions are on exactly these ids. */
function assertDecided(
  ids: readonly string[],
  { decisions, what }: { readonly decisions: ResumeDecisions | undefined; readonly what: string },
): void {
  const decided = Object.keys(decisions ?? {});
  if (ids.length === 0 && decided.length > 0) {
    throw new ResumeInvalidError(`No call is open, but \`resume\` decides on ${quoted(decided)}.`, decided);
  }
  const missing = ids.filter((id) => !Object.hasOwn(decisions ?? {}, id));
  if (missing.length > 0) {
    throw new ResumeInvalidError(
      `The messages end in ${what}. In \`resume\`, set 'approve' or 'deny' for each id: ${quoted(missing)}.`,
      missing,
    );
  }
  const unknown = decided.filter((id) => !ids.includes(id));
  if (unknown.length > 0)
    throw new ResumeInvalidError(`\`resume\` decides on calls that are not open: ${quoted(unknown)}.`, unknown);
  const invalid = ids.filter((id) => !isDecision(decisions?.[id]));
  if (invalid.length > 0) {
    throw new ResumeInvalidError(
      `The decision on ${quoted(invalid)} must be 'approve', 'deny' or { deny: reason }.`,
      invalid,
    );
  }
}

function quoted(ids: readonly string[]): string {
  return ids.map((id) => `"${id}"`).join(', ');
}

/** True for 'approve', 'deny' and `{ deny: reason }`. */
export function isDecision(decision: unknown): boolean {
  if (decision === 'approve' || decision === 'deny') return true;
  return typeof (decision as { deny?: unknown } | null | undefined)?.deny === 'string';
}
