import { toJson } from '../../internal/json.js';
import { deniedCall } from '../../model/denial.js';
import { callAsRun } from '../../model/edited-call.js';
import { type ToolCallPart, textOf, toolCallsOf } from '../../model/message.js';
import { ANSWER } from '../../model/waiting.js';
import type { Entry } from '../../state/record/entry.js';
import { recordOf } from '../../state/record/session-record.js';
import { type Shown, type ShownMessage, type ShownStep, shownIn } from '../history/shown.js';
import type { NestedPart } from '../nested/nested-part.js';
import { nestedParts } from '../nested/nested-parts.js';
import type { NestedPage } from '../nested/nested-runs.js';
import { toolOutput } from '../shown-content.js';
import { resolveErrorTexts } from '../stream-texts.js';
import type { AgUIMessage, AgUIToolCall } from './ag-ui-event.js';

/**
 * Converts the entries of a session to AG-UI messages. A summary becomes an `activity` message. Nested runs become
 * activities of the types `nested-run` and `nested-step`.
 *
 * Omits system messages, reasoning, files, and suspended or denied answers. The text of failed tool calls is replaced
 * by `The tool failed.`
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * const messages = toAgUIMessages(session.entries);
 */
export function toAgUIMessages(entries: readonly Entry[]): AgUIMessage[] {
  return agUIMessagesOf(shownIn(recordOf(entries)), { decides: true, ...resolveErrorTexts({}) });
}

/** Converts the messages and answers that people see in a chat to AG-UI messages. */
export function agUIMessagesOf(shown: readonly Shown[], page: NestedPage): AgUIMessage[] {
  return shown.flatMap((item): AgUIMessage[] => {
    if (item.type === 'answer') return item.steps.flatMap((step) => stepMessages(step, page));
    const { id } = item;
    if (item.type === 'user') return [userMessage(item)];
    return [{ id, role: 'activity', activityType: 'summary', content: { text: item.text } }];
  });
}

function userMessage({ id, message }: ShownMessage): AgUIMessage {
  return { id, role: 'user', content: textOf(message) };
}

function stepMessages(step: ShownStep, page: NestedPage): AgUIMessage[] {
  const { id, message, joined, pending, results, denied } = step;
  const before = joined.map((one) => userMessage({ ...one, id: one.post ?? one.id }));
  if (pending.has(ANSWER)) return before;
  const content = textOf(message);
  const calls = toolCallsOf(message);
  const toolCalls = calls.length > 0 ? calls.map(toolCall) : undefined;
  const ended = calls.flatMap((call): AgUIMessage[] => {
    const result = results.get(call.id);
    if (result === undefined) return [];
    const reason = denied.get(call.id);
    const { part } = result;
    const failed = { callId: call.id, name: call.name, result: part };
    const output = part.isError ? page.toolErrorText(failed) : outputText(toolOutput(part));
    const shown = reason === undefined ? output : deniedCall(reason === '' ? undefined : reason);
    return [{ id: result.id, role: 'tool', toolCallId: call.id, content: shown }];
  });
  const nested = nestedParts(step, page).map(activityOf);
  return [...before, { id, role: 'assistant', content: content || undefined, toolCalls }, ...nested, ...ended];
}

function activityOf({ id, type, data }: NestedPart): AgUIMessage {
  return { id, role: 'activity', activityType: type, content: data } as AgUIMessage;
}

function toolCall(call: ToolCallPart): AgUIToolCall {
  const { id, name, input, invalidInput } = callAsRun(call);
  return { id, type: 'function', function: { name, arguments: invalidInput ?? toJson(input ?? {}) } };
}

/** Returns the output of a tool as a string: a string unchanged, other values as JSON. */
export function outputText(output: unknown): string {
  return typeof output === 'string' ? output : toJson(output);
}
