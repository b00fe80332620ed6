import { ResumeInvalidError } from '../../errors.js';
import { checkMessages, type OpenCalls } from '../../model/check-messages.js';
import type { Message } from '../../model/message.js';

/** What was decided on a call that was left open. */
export type ResumeDecision = 'approve' | 'deny' | { readonly deny: string };

/**
 * A decision for each open call, by call id. Any string compiles, so that `Object.fromEntries` may make it; a run refuses
 * all but the two words of {@link ResumeDecision}.
 */
export type ResumeDecisions = Readonly<Record<string, ResumeDecision | (string & Record<never, never>)>>;

/** The open calls of a conversation, with a decision on each. */
export interface ResumedCalls extends OpenCalls {
  readonly decisions: ResumeDecisions;
  /** What was said after the calls: it joins again after their results. */
  readonly later: readonly Message[];
}

/** A conversation to go on from, and the calls that it left open. */
export interface Continuation {
  /** Without the results of the turn that is open: they join again, with the others, in call order. */
  readonly history: readonly Message[];
  readonly resumed: ResumedCalls | undefined;
}

/**
 * Checks a conversation that a run is started from. Where it ends in open calls, each needs a decision, and no other
 * call may have one: ResumeInvalidError otherwise, and nothing runs.
 */
export function continueFrom(messages: readonly Message[], decisions: ResumeDecisions | undefined): Continuation {
  const open = checkMessages(messages);
  const decided = Object.keys(decisions ?? {});
  if (open === undefined) {
    if (decided.length === 0) return { history: messages, resumed: undefined };
    throw new ResumeInvalidError(`No call is open, but \`resume\` decides on ${quoted(decided)}.`, decided);
  }
  const ids = open.open.map((call) => call.id);
  const missing = ids.filter((id) => !Object.hasOwn(decisions ?? {}, id));
  if (missing.length > 0) {
    throw new ResumeInvalidError(
      `The messages end in open tool calls. Decide on each in \`resume\`, 'approve' or 'deny': ${quoted(missing)}.`,
      missing,
    );
  }
  const unknown = decided.filter((id) => !ids.includes(id));
  if (unknown.length > 0)
    throw new ResumeInvalidError(`\`resume\` decides on calls that are not open: ${quoted(unknown)}.`, unknown);
  const invalid = ids.filter((id) => !isDecision(decisions?.[id]));
  if (invalid.length > 0) {
    throw new ResumeInvalidError(
      `A decision is 'approve', 'deny' or { deny: reason }; it is not for ${quoted(invalid)}.`,
      invalid,
    );
  }
  const later = messages.slice(open.index + 1).filter((message) => message.role !== 'tool');
  return {
    history: messages.slice(0, open.index + 1),
    resumed: { ...open, decisions: decisions as ResumeDecisions, later },
  };
}

function quoted(ids: readonly string[]): string {
  return ids.map((id) => `"${id}"`).join(', ');
}

function isDecision(decision: unknown): boolean {
  if (decision === 'approve' || decision === 'deny') return true;
  return typeof (decision as { deny?: unknown } | null | undefined)?.deny === 'string';
}
