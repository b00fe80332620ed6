import type { AgentEvent } from '../../agent/agent-event.js';
import type { RunResult } from '../../agent/run-result.js';
import { errorFromJson } from '../../agent/session/log/event-json.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { callAsRun } from '../../model/edited-call.js';
import {
  type AssistantMessage,
  type SuspendedCall,
  type ToolCallPart,
  type ToolMessage,
  toolCallsOf,
} from '../../model/message.js';
import { ANSWER } from '../../model/waiting.js';
import type { NestedRecord } from '../../state/record/nested-runs.js';
import { type SessionRecord, waitingOf } from '../../state/record/session-record.js';
import { insideOf } from './pending.js';
import { type ShownStep, shownIn } from './shown.js';

/**
 * Returns events for a run that has a result but no events, because its input was already answered. Each response of
 * the model becomes a turn.
 */
export function* replayOf(result: RunResult<unknown>): Iterable<AgentEvent> {
  const runId = `replay_${crypto.randomUUID()}`;
  const { messages } = result;
  yield { type: 'run-start', runId, agent: '', input: '' };
  let turn = 0;
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'assistant' || message.denied) continue;
    turn += 1;
    const next = messages[index + 1];
    const results = next?.role === 'tool' ? next.content : [];
    yield* turnOf({ message, results, nested: [], isOpen: false }, { runId, turn });
  }
  yield { type: 'run-end', runId, result };
}

/**
 * Returns events that show the earlier steps of an answer which a run continues. Omits a step without tool calls,
 * because its answer was suspended. The run sends this answer after the approval.
 */
export function* replaySteps(steps: readonly ShownStep[], runId: string): Iterable<AgentEvent> {
  const called = steps.filter(({ message }) => toolCallsOf(message).length > 0);
  for (const [index, step] of called.entries()) {
    for (const { id, post = id, message } of step.joined) yield { type: 'post', runId, turn: index, id: post, message };
    yield* stepEvents({ ...step, isOpen: true }, { runId, turn: index + 1 });
  }
}

/**
 * Returns events that show the stored entries of a nested run. Omits `run-end` if the run has not finished, or if it
 * waits although its enclosing call already has a result.
 */
export function* nestedEvents(run: NestedRecord<SessionRecord>, isOpen: boolean): Iterable<AgentEvent> {
  const { runId, agent, path, record, failure } = run;
  const steps = shownIn(record).flatMap((item) => (item.type === 'answer' ? item.steps : []));
  yield { type: 'run-start', runId, path, agent, input: '' };
  for (const [index, step] of steps.entries()) {
    const at = { runId, turn: step.turn ?? index + 1 };
    for (const event of stepEvents({ ...step, isOpen }, at)) yield { path, ...event };
  }
  const last = steps.at(-1)?.message;
  if (failure !== undefined || last?.stopped) {
    const error = failure === undefined ? new RunAbortedError('stopped') : errorFromJson(failure);
    yield { type: 'run-error', runId, path, error };
    yield { type: 'run-end', runId, path };
  } else if (record.pending === undefined ? last !== undefined && toolCallsOf(last).length === 0 : isOpen) {
    yield { type: 'run-end', runId, path, result: endOf(record) };
  }
}

/** Returns the result of a stored run, with only the members that a page shows. */
function endOf(record: SessionRecord): RunResult<unknown> {
  const waiting = waitingOf(record);
  const known = {
    text: '',
    messages: [],
    history: [],
    usage: NO_USAGE,
    turns: 0,
    finishReason: 'other',
    decisions: [],
  } as const;
  if (waiting.length === 0) return { ...known, status: 'completed', output: '', pending: [] };
  const pending = waiting.map(({ id, callers, call, text, question }) => ({
    ...(call ?? { type: 'answer' as const, text }),
    ...(question as SuspendedCall),
    id,
    ...insideOf(callers),
  }));
  return { ...known, status: 'suspended', pending };
}

/** Returns the events of one stored turn, including its nested runs. */
function* stepEvents(step: ShownStep & Pick<StoredTurn, 'isOpen'>, at: TurnPlace): Iterable<AgentEvent> {
  const { message, results, denied, pending, nested, isOpen } = step;
  const { runId, turn } = at;
  const decision = { point: 'afterModel', by: '', type: 'suspend', turn } as const;
  if (pending.has(ANSWER)) yield { type: 'decision', runId, decision };
  const parts = [...results.values()].map(({ part }) => part);
  yield* turnOf({ message, results: parts, nested, isOpen }, at);
  for (const call of toolCallsOf(message)) {
    const reason = denied.get(call.id);
    if (reason === undefined) continue;
    yield { type: 'decision', runId, decision: { point: 'resume', by: '', type: 'block', call, reason, turn } };
  }
}

const NO_USAGE = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };

/**
 * A tool call that is shown again. With `isAnswered`, it already has a result, so that a page does not run its tool
 * again.
 */
export type ReplayedCall = Pick<ToolCallPart, 'id'> & { readonly isAnswered?: true };

interface StoredTurn {
  readonly message: AssistantMessage;
  readonly results: ToolMessage['content'];
  readonly nested: ShownStep['nested'];
  /** False if an enclosing tool call already has its result, so that the calls of the nested run no longer wait. */
  readonly isOpen: boolean;
}

interface TurnPlace {
  readonly runId: string;
  readonly turn: number;
}

function* turnOf({ message, results, nested, isOpen }: StoredTurn, at: TurnPlace): Iterable<AgentEvent> {
  const isAnswered = ({ type, id }: ToolCallPart) => type === 'tool-call' && results.some((result) => result.id === id);
  const content = message.content.map((part) =>
    isAnswered(part as ToolCallPart) ? { ...part, isAnswered: true } : part,
  );
  const calls = toolCallsOf({ role: 'assistant', content }).map(callAsRun);
  yield { ...at, type: 'turn-start' };
  yield { ...at, type: 'model-end', response: { content, finishReason: 'other', usage: NO_USAGE } };
  for (const { id: callId, name, input } of calls) {
    const part = results.find(({ id }) => id === callId);
    yield { ...at, type: 'tool-start', callId, name, input };
    for (const run of nested) if (run.path.at(-1) === callId) yield* nestedEvents(run, isOpen && part === undefined);
    yield { ...at, type: 'tool-end', callId, name, result: part && resultOf(part) };
  }
  yield { ...at, type: 'turn-end' };
}

function resultOf({ content, structured, isError }: ToolMessage['content'][number]) {
  return { content, structured, isError };
}
