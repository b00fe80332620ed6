import { checkMessages } from './check-messages.js';
import { type Message, type SuspendedCall, type ToolCallPart, textOf, type WaitingRun } from './message.js';

/** The id under which a suspended answer waits for a decision. */
export const ANSWER = 'answer';

/** Separates the ids in the id of a nested call or answer. No call of a model has this character in its id. */
export const BETWEEN = '/';

/** A call or an answer that waits for a decision or a result, in a run or in one of its nested runs. */
export interface Waiting {
  /**
   * The id of the call or answer, after the ids of the enclosing tool calls. Unique among all waiting calls and
   * answers.
   */
  readonly id: string;
  /** The enclosing tool calls, outermost first. */
  readonly callers: readonly ToolCallPart[];
  /** The waiting call. Undefined for an answer. */
  readonly call: ToolCallPart | undefined;
  /** The text of the waiting answer. Empty for a call. */
  readonly text: string;
  /** The reason why the call or answer waits. Undefined outside a session, because messages do not contain the reason. */
  readonly question: SuspendedCall | undefined;
}

/**
 * Returns everything that waits because of open calls: the calls themselves, or the waiting calls and answers of their
 * nested runs.
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

/** True if the call waits because of its nested run. Then the call itself can only be denied. */
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

/**
 * Returns the index of the last answer if a hook has suspended it, even if user messages follow. Otherwise returns
 * undefined.
 */
export function suspendedAnswer(messages: readonly Message[]): number | undefined {
  const index = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  const last = messages[index];
  return last?.role === 'assistant' && last.suspended ? index : undefined;
}
