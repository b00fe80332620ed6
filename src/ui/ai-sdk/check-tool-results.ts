import { isObject } from '../../internal/json.js';
import { type AssistantMessage, type Message, textOf } from '../../model/message.js';
import { UICallUnknownError } from '../error.js';
import { assistantMessageId } from '../history/message-id.js';
import { shownMessages } from '../history/shown-messages.js';
import { showValue } from '../invalid-body.js';

/**
 * Throws a UICallUnknownError if an answer in the body contains a tool result that the session does not have. Skips
 * answers that the session no longer contains, such as answers before a compaction.
 */
export function checkToolResults(body: unknown, history: readonly Message[]): void {
  const { id: chatId, messages } = body as { readonly id: string; readonly messages: readonly unknown[] };
  const answers = answersOf(history, chatId);
  for (const message of messages) {
    if (!isObject(message) || message.role !== 'assistant') continue;
    const answer = answers.get(message.id as string);
    if (answer === undefined || endedEarly(answer)) continue;
    const known = resultIds(answer);
    for (const { toolCallId, state } of message.parts as readonly Readonly<Record<string, unknown>>[]) {
      const isResult = state === 'output-available' || state === 'output-error' || state === 'output-denied';
      if (!isResult || known.has(toolCallId)) continue;
      throw new UICallUnknownError(
        `The session has no result of the tool call ${showValue(toolCallId)}. Tools run on the server; load the history again.`,
      );
    }
  }
}

function answersOf(history: readonly Message[], chatId: string): ReadonlyMap<string, readonly Message[]> {
  const answers = new Map<string, Message[]>();
  let current: Message[] = [];
  let count = 0;
  for (const message of shownMessages(history)) {
    if (message.role === 'user') {
      count += 1;
      current = [];
      answers.set(assistantMessageId(count, chatId, textOf(message)), current);
    } else current.push(message);
  }
  return answers;
}

/** A run that failed or was stopped may have shown results that were not stored. */
function endedEarly(answer: readonly Message[]): boolean {
  const last = answer.at(-1);
  return last?.role !== 'assistant' || last.stopped === true;
}

function resultIds(answer: readonly Message[]): ReadonlySet<unknown> {
  const parts = answer.flatMap(({ content }): AssistantMessage['content'] =>
    typeof content === 'string' ? [] : (content as AssistantMessage['content']),
  );
  return new Set(parts.flatMap((part) => (part.type === 'tool-result' ? [part.id] : [])));
}
