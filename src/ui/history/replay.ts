import type { AgentEvent } from '../../agent/agent-event.js';
import type { RunResult } from '../../agent/run-result.js';
import { callAsRun } from '../../model/edited-call.js';
import { type AssistantMessage, type ToolCallPart, type ToolMessage, toolCallsOf } from '../../model/message.js';
import type { ShownStep } from './shown.js';

/** Returns the events that show the stored answer of a run to a page: one turn for each response of the model. */
export function* replayOf(result: RunResult<unknown>): Iterable<AgentEvent> {
  const runId = `replay_${crypto.randomUUID()}`;
  const { messages } = result;
  yield { type: 'run-start', runId, agent: '', input: '' };
  let turn = 0;
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant' || message.denied) continue;
    turn += 1;
    const next = messages[index + 1];
    for (const event of turnOf(message, next?.role === 'tool' ? next.content : [])) yield { ...event, runId, turn };
  }
  yield { type: 'run-end', runId, result };
}

/**
 * Returns the events that show again the steps that a run continues. Leaves out a step without calls: it was suspended, and
 * the run sends it once it is approved.
 */
export function* replaySteps(steps: readonly ShownStep[], runId: string): Iterable<AgentEvent> {
  const called = steps.filter(({ message }) => toolCallsOf(message).length > 0);
  for (const [index, { message, joined, results, denied }] of called.entries()) {
    for (const { id, post = id, message } of joined) yield { type: 'post', runId, turn: index, id: post, message };
    const parts = [...results.values()].map(({ part }) => part);
    const turn = index + 1;
    for (const event of turnOf(message, parts)) yield { ...event, runId, turn };
    for (const call of toolCallsOf(message)) {
      const reason = denied.get(call.id);
      if (reason === undefined) continue;
      yield { type: 'decision', runId, decision: { point: 'resume', by: '', type: 'block', call, reason, turn } };
    }
  }
}

type TurnEvent = Extract<
  AgentEvent,
  { readonly type: 'turn-start' | 'turn-end' | 'model-end' | 'tool-start' | 'tool-end' }
>;
type WithoutRun<Event> = Event extends TurnEvent ? Omit<Event, 'runId' | 'turn'> : never;

/** Marks a replayed call that has a result. A page that runs tools must not run it again. */
export type ReplayedCall = Pick<ToolCallPart, 'id'> & { readonly isAnswered?: true };

function* turnOf(
  { content: parts }: AssistantMessage,
  results: ToolMessage['content'],
): Iterable<WithoutRun<TurnEvent>> {
  const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const isAnswered = ({ type, id }: ToolCallPart) => type === 'tool-call' && results.some((result) => result.id === id);
  const content = parts.map((part) => (isAnswered(part as ToolCallPart) ? { ...part, isAnswered: true } : part));
  const calls = toolCallsOf({ role: 'assistant', content }).map(callAsRun);
  yield { type: 'turn-start' };
  yield { type: 'model-end', response: { content, finishReason: 'other', usage } };
  for (const { id: callId, name, input } of calls) {
    const part = results.find(({ id }) => id === callId);
    yield { type: 'tool-start', callId, name, input };
    yield { type: 'tool-end', callId, name, result: part && resultOf(part) };
  }
  yield { type: 'turn-end' };
}

function resultOf({ content, structured, isError }: ToolMessage['content'][number]) {
  return { content, structured, isError };
}
