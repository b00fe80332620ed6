import { type Message, textOf, toolCallsOf } from '../../model/message.js';
import type { SessionRecord } from '../../state/record/session-record.js';
import { type OutputSchema, resolveOutput } from '../run/output/output.js';
import type { ResumeDecisions } from '../run/resume/continuation.js';
import type { RunResult } from '../run-result.js';

const NO_TOKENS = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/**
 * Returns the answer of an earlier run to the message with this id. Returns undefined if the run has no answer yet, or
 * if the answer was stopped.
 *
 * The answer is the last message of the run that began with the message. A run that resumes open calls counts as part
 * of it.
 */
export function answerTo(
  record: SessionRecord,
  id: string,
  resume: ResumeDecisions | undefined,
): RunResult<unknown> | undefined {
  const { people } = record;
  const waits = record.openTurn !== undefined || record.pending !== undefined;
  if (waits && resume !== undefined) return undefined;
  const from = people.indexOf(id);
  const runOf = (index: number) => record.get(people.idsAt(index)[0] ?? '')?.run;
  if (wasStopped(record, id)) return undefined;
  const isEnd = (message: Message, index: number) =>
    index > from && isAnswer(message) && (index + 1 === people.messages.length || runOf(index) !== runOf(index + 1));
  const end = from < 0 ? -1 : people.messages.findIndex(isEnd);
  if (end < 0) return undefined;
  const messages = people.messages.slice(from, end + 1);
  const text = textOf(people.messages[end] as Message);
  const ended = { pending: [], usage: NO_TOKENS, turns: 0, finishReason: 'other', decisions: [] } as const;
  return { status: 'completed', text, output: text, messages, history: [...record.model.messages], ...ended };
}

/**
 * Returns a stored answer with the value that an output schema reads from its text. Throws an OutputInvalidError if the
 * text does not match the schema.
 */
export async function withOutput(
  answer: RunResult<unknown>,
  schema: OutputSchema | undefined,
): Promise<RunResult<unknown>> {
  if (!schema) return answer;
  const { checkedValue } = await import('../run/output/check-output.js');
  return { ...answer, output: await checkedValue(answer.text, resolveOutput(schema)) } as RunResult<unknown>;
}

/** True if this is the latest question, and its answer was stopped. */
export function wasStopped({ people }: SessionRecord, id: string): boolean {
  const { messages } = people;
  const last = messages.at(-1);
  const question = messages.findLastIndex(({ role }) => role === 'user');
  return last?.role === 'assistant' && last.stopped === true && people.indexOf(id) === question;
}

/** True for a text of the model without tool calls that is neither denied nor waiting for approval. */
function isAnswer(message: Message): boolean {
  if (message.role !== 'assistant' || toolCallsOf(message).length > 0) return false;
  return !message.suspended && !message.denied;
}
