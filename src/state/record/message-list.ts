import { withEditNote } from '../../model/edited-call.js';
import {
  type AssistantMessage,
  type Message,
  type ToolCallPart,
  type ToolMessage,
  type ToolResultPart,
  toolCallsOf,
} from '../../model/message.js';
import { shortenResults } from '../../model/shorten.js';
import { summaryMessage } from '../../model/summary-message.js';
import type { Entry, MessageBody, SummaryBody } from './entry.js';

/** The text of the error result for a call that was running when its process stopped. */
const INTERRUPTED = 'The process stopped during this call; it may have happened.';

/**
 * The reason why an answer does not count as the answer of the conversation: it waits for a decision, or it was denied.
 * Undefined for an answer that counts.
 */
export type AnswerState = 'suspended' | 'denied' | undefined;

/**
 * Builds the messages of a conversation from its entries, in order. All tool results of a turn form one message
 * directly after the calls, in the order of the calls. Also holds the ids of the entries that each message comes from.
 */
export class MessageList {
  /** The number of messages with at least one tool call that has no result. */
  private open = 0;

  /**
   * If `summaries` is true, a summary replaces the messages before it, as for the model. `sources[i]` holds the ids of
   * the entries that the message `messages[i]` comes from.
   */
  constructor(
    private readonly summaries = false,
    readonly messages: Message[] = [],
    private readonly sources: (readonly string[])[] = [],
  ) {}

  /** True if every tool call has a result. */
  get isClosed(): boolean {
    return this.open === 0;
  }

  /**
   * Adds the next entry of the conversation. Ignores unknown types and roles, which a later version may have written.
   */
  add({ id, body }: Entry): void {
    if (body.type === 'summary' && this.summaries) this.summarize(id, body);
    if (body.type !== 'message') return;
    const { message } = body;
    if (message.role === 'tool') for (const part of message.content) this.addResult(id, part);
    else if (isKnown(message)) this.push([id], whole(body));
  }

  /** Returns a copy that does not change when this list changes. */
  copy(): MessageList {
    return this.with(this.messages);
  }

  /**
   * Returns a list with these messages instead of the present ones. Each new message comes from the same entries as the
   * message that it replaces.
   */
  with(messages: readonly Message[]): MessageList {
    const copy = new MessageList(this.summaries, [...messages], [...this.sources]);
    copy.open = this.open;
    return copy;
  }

  /** Returns the index of the message that comes from this entry, or -1. */
  indexOf(id: string): number {
    return this.sources.findLastIndex((ids) => ids.includes(id));
  }

  /** Returns the ids of the entries that the message at this index comes from. */
  idsAt(index: number): readonly string[] {
    return this.sources[index] ?? [];
  }

  /** Marks the answer of this entry as suspended or denied. If `state` is undefined, removes the mark. */
  mark(id: string, state: AnswerState): void {
    this.replace(id, ({ suspended: _suspended, denied: _denied, ...answer }) =>
      state === undefined ? answer : { ...answer, [state]: true },
    );
  }

  /**
   * Replaces the model's message of this entry. The new message must have the same tool calls, because their results
   * stay in the list.
   */
  replace(id: string, change: (message: AssistantMessage) => AssistantMessage): void {
    const index = this.indexOf(id);
    const message = this.messages[index];
    if (message?.role === 'assistant') this.messages[index] = change(message);
  }

  /**
   * Returns the messages, with an error result for each tool call without a result, because providers require one.
   * Returns the internal array, not a copy, if every call has a result.
   */
  closed(): readonly Message[] {
    if (this.isClosed) return this.messages;
    const list = new MessageList();
    for (const [index, message] of this.messages.entries()) {
      if (message.role === 'tool') for (const part of message.content) list.addResult('', part);
      else list.push([], message);
      for (const call of this.openAt(index)) list.addResult('', interruptedResult(call));
    }
    return list.messages;
  }

  /** Returns the tool calls without a result in the message at this index. */
  openAt(index: number): readonly ToolCallPart[] {
    const calls = toolCallsOf(this.messages[index] as Message);
    const next = this.messages[index + 1];
    const results = calls.length > 0 && next?.role === 'tool' ? next.content : [];
    return calls.filter(({ id }) => !results.some((result) => result.id === id));
  }

  private push(ids: readonly string[], message: Message): void {
    this.messages.push(message);
    this.sources.push(ids);
    if (toolCallsOf(message).length > 0) this.open += 1;
  }

  /**
   * Adds a result directly after the latest message that has its call. Ignores a result whose call is missing, and a
   * second result for the same call.
   */
  private addResult(id: string, part: ToolResultPart): void {
    const at = this.messages.findLastIndex((message) => toolCallsOf(message).some((call) => call.id === part.id));
    if (at < 0) return;
    const calls = toolCallsOf(this.messages[at] as AssistantMessage);
    const next = this.messages[at + 1];
    const before = next?.role === 'tool' ? next.content : [];
    if (before.some((result) => result.id === part.id)) return;
    const found = new Map([...before, part].map((result) => [result.id, result]));
    const message: ToolMessage = { role: 'tool', content: calls.flatMap((call) => found.get(call.id) ?? []) };
    const ids = before.length === 0 ? [id] : [...this.idsAt(at + 1), id];
    this.messages.splice(at + 1, before.length === 0 ? 0 : 1, message);
    this.sources.splice(at + 1, before.length === 0 ? 0 : 1, ids);
    if (message.content.length === calls.length) this.open -= 1;
  }

  private summarize(id: string, { text, from, keep, shorten }: SummaryBody): void {
    const start = from === undefined ? this.messages.length : Math.max(0, this.indexOf(from));
    const isKept = (_: unknown, index: number) => this.idsAt(index).some((one) => keep.includes(one));
    const kept = this.messages.slice(0, start).filter(isKept);
    const ids = this.sources.slice(0, start).filter(isKept);
    const summaries = text === '' ? [] : [summaryMessage(text)];
    this.messages.splice(0, start, ...kept, ...summaries);
    this.sources.splice(0, start, ...ids, ...summaries.map(() => [id]));
    this.open = this.messages.filter((_, index) => this.openAt(index).length > 0).length;
    for (const { id: result, chars } of shorten) this.shorten(this.indexOf(result), chars);
  }

  private shorten(index: number, chars: number): void {
    const message = this.messages[index];
    if (message !== undefined) this.messages[index] = shortenResults(message, chars);
  }
}

/**
 * Returns the error result for a call that was running when its process stopped. Its text warns the model that the call
 * may have had an effect.
 */
export function interruptedResult({ id, name, editedInput }: ToolCallPart): ToolResultPart {
  const result: ToolResultPart = { type: 'tool-result', id, name, content: INTERRUPTED, isError: true };
  return editedInput === undefined ? result : withEditNote(result, editedInput);
}

function isKnown({ role }: Message): boolean {
  return role === 'user' || role === 'assistant' || role === 'system';
}

function whole({ message, stopped }: MessageBody): Message {
  return message.role === 'assistant' && stopped !== undefined ? { ...message, stopped: true } : message;
}
