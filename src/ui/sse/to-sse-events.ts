import type { AgentEvent, AgentEventOf } from '../../agent/agent-event.js';
import type { PendingAnswer, PendingCall, RunResult } from '../../agent/run-result.js';
import { OwnEvents } from '../../agent/run-stream.js';
import { RunAbortedError } from '../../lifecycle/run-failure.js';
import { textOf } from '../../model/message.js';
import { shownData, toolOutput } from '../shown-content.js';
import type { StreamTexts } from '../stream-texts.js';
import { SuspendedResponse } from '../suspended-response.js';
import type { Converter } from './event-queue.js';
import type { SSEEvent, SSEPendingAnswer, SSEPendingCall, SSEResult, SSERunEvent } from './sse-event.js';

/** Options for converting one run to server-sent events. */
export interface SSEConverterOptions extends StreamTexts {
  /**
   * True if the person on the page may approve or deny tool calls and answers. Only then the page receives the calls
   * and the answer that wait.
   */
  readonly decides: boolean;
}

/** Returns functions that convert the events of one run to server-sent events. */
export function sseConverter(options: SSEConverterOptions): Converter<SSEEvent> {
  const own = new OwnEvents();
  const suspensions = new Map<string, SuspendedResponse>();
  return {
    convert(event) {
      const { type, runId } = event;
      const path = own.pathOf(event);
      const suspension = suspensions.get(runId) ?? new SuspendedResponse();
      if (type === 'run-end') suspensions.delete(runId);
      else suspensions.set(runId, suspension);
      if (suspension.hides(event)) return [];
      const isAnswer = type === 'model-end' && suspension.isAnswer(event.response);
      const shown = convert(isAnswer ? { ...event, response: undefined } : event, options);
      if (shown === undefined) return [];
      if (path.length === 0) return [shown];
      return [{ ...shown, ...(type === 'run-start' && { agent: event.agent }), runId, path }];
    },
    fail: (error) => [runErrorEvent(error, options)],
  };
}

function convert(event: AgentEvent, options: SSEConverterOptions): SSERunEvent | undefined {
  switch (event.type) {
    case 'run-start':
      return { type: 'run-start', runId: event.runId };
    case 'turn-start':
    case 'turn-end':
      return { type: event.type, turn: event.turn };
    case 'text-delta':
    case 'reasoning-delta':
      return { type: event.type, turn: event.turn, attempt: event.attempt, text: event.text };
    case 'tool-input-delta': {
      const { type, turn, attempt, callId, name, text } = event;
      return { type, turn, attempt, callId, name, text };
    }
    case 'model-error':
      return { type: 'model-error', turn: event.turn };
    case 'model-end':
      return modelEnd(event);
    case 'post':
      if (event.work !== undefined) return undefined;
      return { type: 'post', turn: event.turn, id: event.id, text: textOf(event.message) };
    case 'handoff':
      return { type: 'handoff', turn: event.turn, from: event.from, to: event.to };
    case 'run-error':
      return runErrorEvent(event.error, options);
    case 'run-end':
      return { type: 'run-end', result: event.result && resultOf(event.result, options.decides) };
    default:
      return convertTool(event, options);
  }
}

function convertTool(event: AgentEvent, texts: StreamTexts): SSERunEvent | undefined {
  if (event.type === 'tool-start') {
    const { type, turn, callId, name, input } = event;
    return { type, turn, callId, name, input: shownData(input) };
  }
  if (event.type === 'tool-delta') {
    const { type, turn, callId, name, data } = event;
    return { type, turn, callId, name, data: shownData(data) };
  }
  if (event.type === 'tool-end') {
    const { type, turn, callId, name, result } = event;
    if (result === undefined) return { type, turn, callId, name };
    if (!result.isError) return { type, turn, callId, name, output: toolOutput(result) };
    return { type, turn, callId, name, errorText: texts.toolErrorText({ callId, name, result }) };
  }
  if (event.type !== 'decision') return undefined;
  const { point, type, call } = event.decision;
  // A resumed run emits no tool events for a denied call.
  if (point !== 'resume' || type !== 'block' || call === undefined) return undefined;
  return { type: 'tool-denied', callId: call.id, name: call.name };
}

function modelEnd({ turn, response }: AgentEventOf<'model-end'>): SSERunEvent {
  if (response === undefined) return { type: 'model-end', turn };
  return { type: 'model-end', turn, text: textOf({ role: 'assistant', content: response.content }) };
}

function runErrorEvent(error: unknown, { errorText }: StreamTexts): SSERunEvent {
  const aborted = error instanceof RunAbortedError;
  return { type: 'run-error', errorText: aborted ? 'The run was stopped.' : errorText(error), aborted };
}

function resultOf({ status, text, pending, usage }: RunResult<unknown>, decides: boolean): SSEResult {
  const open = pending as readonly (PendingCall | PendingAnswer)[];
  const isAnswer = open.some(({ type, path }) => type === 'answer' && path === undefined);
  return { status, text: isAnswer ? '' : text, pending: decides ? open.map(shownPending) : [], usage };
}

function shownPending({
  id,
  path,
  agent,
  reason,
  ...pending
}: PendingCall | PendingAnswer): SSEPendingCall | SSEPendingAnswer {
  const inside = path && { path, agent };
  if (pending.type === 'answer') return { type: 'answer', id, ...inside, text: pending.text, reason };
  const { name, input, needs } = pending;
  return { id, ...inside, name, input: shownData(input), reason, ...(needs && { needs }) };
}
