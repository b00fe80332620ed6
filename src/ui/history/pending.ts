import { checkMessages } from '../../model/check-messages.js';
import { type Message, textOf } from '../../model/message.js';

/** A tool call or an answer of a stored session that waits for a decision. */
export type StoredPending =
  | { readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'answer'; readonly id: 'answer'; readonly text: string };

/** Returns the tool calls that wait for decisions, or the suspended answer. */
export function pendingIn(history: readonly Message[]): readonly StoredPending[] {
  const open = checkMessages(history)?.open;
  if (open !== undefined)
    return open.map(({ id, name, input, invalidInput }) => ({ id, name, input: invalidInput ?? input }));
  const answer = suspendedAnswer(history);
  return answer === undefined ? [] : [{ type: 'answer', id: 'answer', text: textOf(answer) }];
}

/** Returns the suspended answer at the end of a history. Messages of the user may follow it. */
export function suspendedAnswer(history: readonly Message[]): Message | undefined {
  const last = history.findLast(({ role }) => role === 'assistant' || role === 'tool');
  return last?.role === 'assistant' && last.suspended === true ? last : undefined;
}

/** A suspended answer as a tool call: the AI SDK asks for approval of tool calls only. */
export function answerCall(text: string) {
  return { id: 'answer', name: 'answer', input: { text } } as const;
}
