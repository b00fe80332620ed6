import {
  type AssistantMessage,
  type AssistantPart,
  type Message,
  type ToolCallPart,
  type ToolResultPart,
  textOf,
  type UserMessage,
} from '../../model/message.js';
import { assistantMessageId } from '../history/message-id.js';
import { answerCall, suspendedAnswer } from '../history/pending.js';
import { shownMessages } from '../history/shown-messages.js';
import { fileUrl, toolOutput } from '../shown-content.js';
import { sourcesOf } from '../sources.js';
import type { UIMessage, UIPart, UIToolPart } from './ui-message.js';

/** Options of `toUIMessages`. */
export interface ToUIMessagesOptions {
  /** The id of the chat, part of the message ids. Default: an empty string. */
  readonly chatId?: string | undefined;
  /**
   * False for a page that must not decide: open tool calls are shown without a request for approval, and a suspended
   * answer is left out. Default: true.
   */
  readonly decides?: boolean | undefined;
}

/**
 * Converts the messages of a session to UI messages, for the first load of a page. All turns between two user messages
 * become one assistant message. Open tool calls become requests for approval, and so does a suspended answer, as the tool
 * call `answer`. System messages and denied answers are left out. The text of failed tool calls is replaced by
 * `The tool failed.`
 *
 * @example
 * const session = await agent.session({ id: 'ada' });
 * const messages = toUIMessages(session.messages, { chatId: 'ada' });
 */
export function toUIMessages(
  history: readonly Message[],
  { chatId = '', decides = true }: ToUIMessagesOptions = {},
): UIMessage[] {
  const view = { results: resultsOf(history), waiting: suspendedAnswer(history), decides };
  const messages: UIMessage[] = [];
  let count = 0;
  let userText = '';
  for (const message of shownMessages(history)) {
    if (message.role === 'user') {
      count += 1;
      userText = textOf(message);
      messages.push({ id: `u${count}`, role: 'user', parts: userParts(message) });
    } else if (message.role === 'assistant') {
      const parts: UIPart[] = [{ type: 'step-start' }, ...stepParts(message, view)];
      const last = messages.at(-1);
      if (last?.role === 'assistant') messages[messages.length - 1] = { ...last, parts: [...last.parts, ...parts] };
      else messages.push({ id: assistantMessageId(count, chatId, userText), role: 'assistant', parts });
    }
  }
  return messages;
}

interface PageView {
  readonly results: ReadonlyMap<string, ToolResultPart>;
  /** The suspended answer. */
  readonly waiting: Message | undefined;
  readonly decides: boolean;
}

function resultsOf(history: readonly Message[]): ReadonlyMap<string, ToolResultPart> {
  const parts = history.flatMap((message): readonly { readonly type: string }[] =>
    typeof message.content === 'string' ? [] : message.content,
  );
  const results = parts.filter((part): part is ToolResultPart => part.type === 'tool-result');
  return new Map(results.map((result) => [result.id, result]));
}

function userParts({ content }: UserMessage): UIPart[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return content.map((part) => {
    if (part.type === 'text') return { type: 'text', text: part.text };
    const filename = (part.type === 'file' && part.filename) || undefined;
    return { type: 'file', url: fileUrl(part), mediaType: part.mediaType ?? 'image/png', filename };
  });
}

function stepParts(message: AssistantMessage, view: PageView): UIPart[] {
  if (message === view.waiting) return view.decides ? [answerRequest(message)] : [];
  const { content } = message;
  const sources = sourcesOf(content, undefined).map((source) => ({ type: 'source-url', ...source }) as const);
  return [...content.flatMap((part) => assistantParts(part, view)), ...sources];
}

function answerRequest(message: Message): UIToolPart {
  const { id, name, input } = answerCall(textOf(message));
  return { type: `tool-${name}`, toolCallId: id, state: 'approval-requested', input, approval: { id } };
}

function assistantParts(part: AssistantPart, view: PageView): UIPart[] {
  if (part.type === 'text' || part.type === 'reasoning') {
    return part.text === '' ? [] : [{ type: part.type, text: part.text, state: 'done' }];
  }
  if (part.type === 'file') return [{ type: 'file', url: fileUrl(part), mediaType: part.mediaType }];
  if (part.type === 'tool-result') return [];
  const call = {
    type: `tool-${part.name}`,
    toolCallId: part.id,
    input: part.invalidInput ?? part.input,
    providerExecuted: part.providerExecuted || undefined,
  } as const;
  return [{ ...call, ...outcomeOf(part, view) }];
}

type Outcome = Pick<UIToolPart, 'state' | 'output' | 'errorText' | 'approval'>;

function outcomeOf({ id, providerExecuted }: ToolCallPart, { results, decides }: PageView): Outcome {
  const result = results.get(id);
  if (result === undefined) {
    return providerExecuted || !decides
      ? { state: 'input-available' }
      : { state: 'approval-requested', approval: { id } };
  }
  if (result.isError) return { state: 'output-error', errorText: 'The tool failed.' };
  return { state: 'output-available', output: toolOutput(result) };
}
