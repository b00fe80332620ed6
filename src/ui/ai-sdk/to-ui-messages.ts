import { inputOf } from '../../model/edited-call.js';
import { type AssistantPart, type ToolCallPart, textOf, type UserMessage } from '../../model/message.js';
import { ANSWER } from '../../model/waiting.js';
import type { Entry } from '../../state/record/entry.js';
import { recordOf } from '../../state/record/session-record.js';
import { answerCall } from '../history/pending.js';
import { type Shown, type ShownMessage, type ShownStep, shownIn } from '../history/shown.js';
import { nestedParts } from '../nested/nested-parts.js';
import type { NestedPage } from '../nested/nested-runs.js';
import { fileUrl, toolOutput } from '../shown-content.js';
import { sourcesOf } from '../sources.js';
import { resolveErrorTexts } from '../stream-texts.js';
import { editMetadata, nestedPart, type UIMessagePart } from './ui-chunk.js';
import type { UIMessage, UIPart, UIToolPart } from './ui-message.js';

/** Options of `toUIMessages`. */
export interface ToUIMessagesOptions {
  /**
   * False if the person on the page may not approve or deny tool calls and answers. Waiting tool calls then have no
   * request for approval, and a suspended answer is omitted. Default: true.
   */
  readonly decides?: boolean | undefined;
  /**
   * The major version of the package `ai` on the page. A user message that was sent during a run becomes a part of the
   * answer: `steering-message`, or `data-steering-message` in version 6. Default: 7.
   */
  readonly version?: 6 | 7 | undefined;
}

/**
 * Converts the entries of a session to UI messages, for the first load of a page. All turns between two user messages
 * become one assistant message.
 *
 * Waiting calls become requests for approval; a suspended answer becomes the waiting tool call `answer`. Nested runs
 * become parts `data-nested-run` and `data-nested-step`. A summary becomes an assistant message with a part
 * `data-summary`.
 *
 * Omits system messages and denied answers. The text of failed tool calls is replaced by `The tool failed.`
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * const messages = toUIMessages(session.entries);
 */
export function toUIMessages(entries: readonly Entry[], options: ToUIMessagesOptions = {}): UIMessage[] {
  const { decides = true, version } = options;
  return uiMessagesOf(shownIn(recordOf(entries)), { decides, ...resolveErrorTexts({}) }, version);
}

/** Converts the messages and answers that people see in a chat to UI messages. */
export function uiMessagesOf(shown: readonly Shown[], page: NestedPage, version: 6 | 7 = 7): UIMessage[] {
  return shown.map((item) => {
    const { id } = item;
    if (item.type === 'user') return { id, role: 'user', parts: userParts(item.message) };
    if (item.type === 'summary') {
      return { id, role: 'assistant', parts: [{ type: 'data-summary', data: { text: item.text } }] };
    }
    const parts = item.steps.flatMap((step): UIPart[] => [
      ...step.joined.map((joined) => joinedPart(joined, version)),
      { type: 'step-start' },
      ...stepParts(step, page),
      ...nestedParts(step, page).map(nestedPart),
    ]);
    const isStopped = item.steps.at(-1)?.message.stopped;
    return { id, role: 'assistant', parts, ...(isStopped && { metadata: { stopped: true } }) };
  });
}

/** Returns a user message that was sent during a run as a part of the answer. */
function joinedPart({ id, post = id, message }: ShownMessage, version: 6 | 7): UIPart {
  const parts = userParts(message);
  if (version === 7) return { type: 'steering-message', id: post, parts };
  return { type: 'data-steering-message', id: post, data: { parts } };
}

export function userParts({ content }: UserMessage): UIMessagePart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    const filename = (part.type === 'file' && part.filename) || undefined;
    return { type: 'file', url: fileUrl(part), mediaType: part.mediaType ?? 'image/png', filename };
  });
}

function stepParts(step: ShownStep, page: NestedPage): UIPart[] {
  const { content } = step.message;
  if (step.pending.has(ANSWER)) return page.decides ? [answerRequest(step)] : [];
  const sources = sourcesOf(content, undefined).map((source) => ({ type: 'source-url', ...source }) as const);
  return [...content.flatMap((part) => assistantParts(part, { step, page })), ...sources];
}

function answerRequest({ message }: ShownStep): UIToolPart {
  const { id, name, input } = answerCall(textOf(message));
  return { type: `tool-${name}`, toolCallId: id, state: 'approval-requested', input, approval: { id } };
}

interface StepView {
  readonly step: ShownStep;
  readonly page: NestedPage;
}

function assistantParts(part: AssistantPart, view: StepView): UIPart[] {
  if (part.type === 'text' || part.type === 'reasoning') {
    return part.text === '' ? [] : [{ type: part.type, text: part.text, state: 'done' }];
  }
  if (part.type === 'file') return [{ type: 'file', url: fileUrl(part), mediaType: part.mediaType }];
  if (part.type === 'tool-result') return [];
  const call = {
    type: `tool-${part.name}`,
    toolCallId: part.id,
    input: inputOf(part),
    providerExecuted: part.providerExecuted || undefined,
    ...(part.editedInput !== undefined && { callProviderMetadata: editMetadata(part.invalidInput ?? part.input) }),
  } as const;
  return [{ ...call, ...outcomeOf(part, view) }];
}

type Outcome = Pick<UIToolPart, 'state' | 'output' | 'errorText' | 'approval'>;

function outcomeOf({ id, name }: ToolCallPart, { step: { results, denied, pending }, page }: StepView): Outcome {
  const reason = denied.get(id);
  if (reason !== undefined) {
    return { state: 'output-denied', approval: { id, approved: false, ...(reason !== '' && { reason }) } };
  }
  const result = results.get(id)?.part;
  if (result === undefined) {
    return page.decides && pending.has(id)
      ? { state: 'approval-requested', approval: { id } }
      : { state: 'input-available' };
  }
  if (result.isError) return { state: 'output-error', errorText: page.toolErrorText({ callId: id, name, result }) };
  return { state: 'output-available', output: toolOutput(result) };
}
