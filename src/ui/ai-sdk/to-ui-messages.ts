import {
  type AssistantMessage,
  type AssistantPart,
  type Message,
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
export function toUIMessages(history: readonly Message[], { chatId = '' }: ToUIMessagesOptions = {}): UIMessage[] {
  const results = resultsOf(history);
  const messages: UIMessage[] = [];
  let count = 0;
  let userText = '';
  const waiting = suspendedAnswer(history);
  for (const message of shownMessages(history)) {
    if (message.role === 'user') {
      count += 1;
      userText = textOf(message);
      messages.push({ id: `u${count}`, role: 'user', parts: userParts(message) });
    } else if (message.role === 'assistant') {
      const step = message === waiting ? [answerRequest(message)] : stepParts(message, results);
      const parts: UIPart[] = [{ type: 'step-start' }, ...step];
      const last = messages.at(-1);
      if (last?.role === 'assistant') messages[messages.length - 1] = { ...last, parts: [...last.parts, ...parts] };
      else messages.push({ id: assistantMessageId(count, chatId, userText), role: 'assistant', parts });
    }
  }
  return messages;
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
    const filename = part.type === 'file' ? part.filename : undefined;
    return {
      type: 'file',
      url: fileUrl(part),
      mediaType: part.mediaType ?? 'image/png',
      ...(filename && { filename }),
    };
  });
}

function stepParts({ content }: AssistantMessage, results: ReadonlyMap<string, ToolResultPart>): UIPart[] {
  const sources = sourcesOf(content, undefined).map((source) => ({ type: 'source-url', ...source }) as const);
  return [...content.flatMap((part) => assistantParts(part, results)), ...sources];
}

function answerRequest(message: Message): UIToolPart {
  const { id, name, input } = answerCall(textOf(message));
  return { type: `tool-${name}`, toolCallId: id, state: 'approval-requested', input, approval: { id } };
}

function assistantParts(part: AssistantPart, results: ReadonlyMap<string, ToolResultPart>): UIPart[] {
  if (part.type === 'text' || part.type === 'reasoning') {
    return part.text === '' ? [] : [{ type: part.type, text: part.text, state: 'done' }];
  }
  if (part.type === 'file') return [{ type: 'file', url: fileUrl(part), mediaType: part.mediaType }];
  if (part.type === 'tool-result') return [];
  const call = {
    type: `tool-${part.name}`,
    toolCallId: part.id,
    input: part.invalidInput ?? part.input,
    ...(part.providerExecuted && { providerExecuted: true }),
  } as const;
  return [{ ...call, ...outcomeOf(part.id, results.get(part.id), part.providerExecuted === true) }];
}

type Outcome = Pick<UIToolPart, 'state' | 'output' | 'errorText' | 'approval'>;

function outcomeOf(id: string, result: ToolResultPart | undefined, providerExecuted: boolean): Outcome {
  if (result === undefined) {
    return providerExecuted ? { state: 'input-available' } : { state: 'approval-requested', approval: { id } };
  }
  if (result.isError) return { state: 'output-error', errorText: 'The tool failed.' };
  return { state: 'output-available', output: toolOutput(result) };
}
