import { inputOf } from '../../model/edited-call.js';
import type { Waiting } from '../../model/waiting.js';
import { type SessionRecord, waitingOf } from '../../state/record/session-record.js';
import type { ShownMessage } from './shown.js';

/**
 * A tool call or an answer of a chat that waits for a decision or a result. It may belong to a nested run. With `needs:
 * 'result'`, the page runs the tool of the call.
 */
export type StoredPending = { readonly id: string; readonly reason: string } & Partial<Inside> &
  (
    | { readonly name: string; readonly input: unknown; readonly needs?: 'result' | undefined }
    | { readonly type: 'answer'; readonly text: string }
  );

/** The ids of the tool calls that enclose a nested run, and the agent of the nested run. */
interface Inside {
  readonly path: readonly string[];
  readonly agent: string | undefined;
}

/** Returns the enclosing tool calls and the agent of a nested run. Returns undefined for the outermost run. */
export function insideOf(callers: Waiting['callers']): Inside | undefined {
  const outer = callers.at(-1);
  return outer && { path: callers.map(({ id }) => id), agent: outer.inside?.agent };
}

/**
 * Returns the tool calls that wait for decisions or results, or the suspended answer. Excludes calls whose tools still
 * run.
 */
export function pendingIn(record: SessionRecord): readonly StoredPending[] {
  return waitingOf(record).map(({ id, callers, call, text, question }) => {
    const inside = insideOf(callers);
    const { reason = '', needs } = question ?? {};
    if (call === undefined) return { type: 'answer', id, text, reason, ...inside };
    return { id, name: call.name, input: inputOf(call), reason, needs, ...inside };
  });
}

/** Returns the user messages that no run has read yet, with the ids under which they were sent. */
export function waitingIn({ posts }: SessionRecord): readonly ShownMessage[] {
  const messages = posts.waiting.filter(({ work }) => work === undefined);
  return messages.map(({ id, message }) => ({ type: 'user', id, message }));
}

/** Returns the background work of a chat that has not ended. */
export function worksIn({ posts }: SessionRecord): readonly { readonly id: string; readonly label: string }[] {
  return [...(posts.works ?? [])].map(([id, label]) => ({ id, label }));
}

/** Returns a suspended answer as a tool call, because the AI SDK requests approval only for tool calls. */
export function answerCall(text: string) {
  return { id: 'answer', name: 'answer', input: { text } } as const;
}
