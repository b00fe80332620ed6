import { checkMessages } from './check-messages.js';
import { type Message, type SuspendedCall, type ToolCallPart, textOf, type WaitingRun } from './message.js';

/** The id under which a suspended answer waits for a decision. */
export const ANSWER = 'answer';

/** Separates the ids in the id of a nested call or answer. No call of a model has this character in its id. */
export const BETWEEN = '/';

/** A call or an answer that waits, in a run or in one of its nested runs. */
export interface Waiting {
  /** The id of the call or answer, after the ids of the enclosing tool calls. Unique among all that wait. */
  readonly id: string;
  /** The enclosing tool calls, outermost first. */
  readonly callers: readonly ToolCallPart[];
  /** Undefined for an answer. */
  readonly call: ToolCallPart | undefined;
  /** The text of an answer. */
  readonly text: string;
  /** The reason why the call waits. Undefined if the messages of a run were passed on without it. */
  readonly question: SuspendedCall | undefined;
}

/**
 * Returns everything that waits because of open calls: the calls themselves, or the calls and answers of their nested
 * runs.
 */
export function waitingIn(
  open: readonly ToolCallPart[],
  questions: readonly SuspendedCall[] = [],
  callers: readonly ToolCallPart[] = [],
): readonly Waiting[] {
  return open.flatMap((call) => {
    if (isWaitingInside(call)) return waitingInside(call.inside, [...callers, call]);
    const question = questions.find(({ id }) => id === call.id);
    // A nested call without a reason was interrupted and does not wait.
    if (question === undefined && callers.length > 0) return [];
    return [{ id: idBehind(callers, call.id), callers, call, text: '', question }];
  });
}

/** True if a nested run of the call waits. Then the call itself can only be denied. */
function isWaitingInside(call: ToolCallPart): call is ToolCallPart & { readonly inside: WaitingRun } {
  return call.inside !== undefined && waitingInside(call.inside, [call]).length > 0;
}

function waitingInside({ messages, waits }: WaitingRun, callers: readonly ToolCallPart[]): readonly Waiting[] {
  const open = checkMessages(messages)?.open;
  if (open !== undefined) return waitingIn(open, waits, callers);
  const question = waits.find(({ id }) => id === ANSWER);
  const answer = messages.findLast(({ role }) => role === 'assistant');
  if (question === undefined || answer === undefined) return [];
  return [{ id: idBehind(callers, ANSWER), callers, call: undefined, text: textOf(answer), question }];
}

function idBehind(callers: readonly ToolCallPart[], id: string): string {
  return [...callers.map((call) => call.id), id].join(BETWEEN);
}

/** Returns the index of the last answer if it is suspended, even if user messages follow. Otherwise returns -1. */
export function suspendedAnswer(messages: readonly Message[]): number | undefined {
  const index = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  const last = messages[index];
  return last?.role === 'assistant' && last.suspended ? index : undefined;
}
