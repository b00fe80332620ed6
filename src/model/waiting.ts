import { checkMessages } from './check-messages.js';
import { type Message, type SuspendedCall, type ToolCallPart, textOf, type WaitingRun } from './message.js';

/** The id under which a suspended answer waits for a decision. */
export const ANSWER = 'answer';

/** Stands between the ids of calls in the id of something that waits inside a call. No call of a model has it in its id. */
export const BETWEEN = '/';

/** A call or an answer that waits, in a run or in a nested run. */
export interface Waiting {
  /** Its own id. Inside a call, behind the ids of the enclosing tool calls, outermost first. Unique among all that wait. */
  readonly id: string;
  /** The calls that lead to it, from the outermost. */
  readonly callers: readonly ToolCallPart[];
  /** Undefined for an answer. */
  readonly call: ToolCallPart | undefined;
  /** The text of an answer. */
  readonly text: string;
  /** Undefined if the messages of a run were passed on without it. */
  readonly question: SuspendedCall | undefined;
}

/** Returns what waits in open calls: the calls themselves, or what waits inside them. */
export function waitingIn(
  open: readonly ToolCallPart[],
  questions: readonly SuspendedCall[] = [],
  callers: readonly ToolCallPart[] = [],
): readonly Waiting[] {
  return open.flatMap((call) => {
    if (isWaitingInside(call)) return waitingInside(call.inside, [...callers, call]);
    const question = questions.find(({ id }) => id === call.id);
    // A call inside that does not wait was interrupted.
    if (question === undefined && callers.length > 0) return [];
    return [{ id: idBehind(callers, call.id), callers, call, text: '', question }];
  });
}

/** True if a nested run waits. The call itself then only takes a denial. */
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

/** Returns the index of the last answer if it is suspended. Messages of the user may follow. */
export function suspendedAnswer(messages: readonly Message[]): number | undefined {
  const index = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  const last = messages[index];
  return last?.role === 'assistant' && last.suspended ? index : undefined;
}
