import { inputOf } from '../../model/edited-call.js';
import { textOf, toolCallsOf } from '../../model/message.js';
import { ANSWER } from '../../model/waiting.js';
import type { SessionRecord } from '../../state/record/session-record.js';
import type { ShownMessage } from './shown.js';

/** A tool call or an answer of a session that waits. With `needs: 'result'`, the page runs the tool of the call. */
export type StoredPending =
  | {
      readonly id: string;
      readonly name: string;
      readonly input: unknown;
      readonly reason: string;
      readonly needs?: 'result' | undefined;
    }
  | { readonly type: 'answer'; readonly id: 'answer'; readonly text: string; readonly reason: string };

/** Returns the tool calls that wait for decisions or results, or the suspended answer. A call that runs does not wait. */
export function pendingIn({ pending, people }: SessionRecord): readonly StoredPending[] {
  const message = pending && people.messages[people.indexOf(pending.entry)];
  if (message === undefined) return [];
  return (
    pending?.calls.flatMap(({ id, reason, needs }): StoredPending[] => {
      if (id === ANSWER) return [{ type: 'answer', id: ANSWER, text: textOf(message), reason }];
      const call = toolCallsOf(message).find((one) => one.id === id);
      return call === undefined ? [] : [{ id, name: call.name, input: inputOf(call), reason, needs }];
    }) ?? []
  );
}

/** Returns the messages of people that wait to join the conversation, under the ids with which they were sent. */
export function waitingIn({ posts }: SessionRecord): readonly ShownMessage[] {
  const messages = posts.waiting.filter(({ work }) => work === undefined);
  return messages.map(({ id, message }) => ({ type: 'user', id, message }));
}

/** Returns the background works that have not ended. */
export function worksIn({ posts }: SessionRecord): readonly { readonly id: string; readonly label: string }[] {
  return [...(posts.works ?? [])].map(([id, label]) => ({ id, label }));
}

/** A suspended answer as a tool call: the AI SDK asks for approval of tool calls only. */
export function answerCall(text: string) {
  return { id: 'answer', name: 'answer', input: { text } } as const;
}
