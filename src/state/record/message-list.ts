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

/** The result of a call whose process stopped before the call ended. */
const INTERRUPTED = 'The process stopped during this call; it may have happened.';

/** The state of an answer that has not become the answer of the conversation. */
export type AnswerState = 'suspended' | 'denied' | undefined;

/**
 * The messages of a path of entries, in order. The results of a turn form one message directly after its calls, in call
 * order. Also holds the entry ids of each message.
 */
export class MessageList {
  /** The number of messages with a call that has no result. */
  private open = 0;

  /**
   * With `summaries`, a summary replaces the messages before it. `sources` holds the ids of the entries of each
   * message, by message index.
   */
  constructor(
    private readonly summaries = false,
    readonly messages: Message[] = [],
    private readonly sources: (readonly string[])[] = [],
  ) {}

  /** True if every call has a result. */
  get isClosed(): boolean {
    return this.open === 0;
  }

  /** Adds an entry of the path. Ignores unknown types and roles. */
  add({ id, body }: Entry): void {
    if (body.type === 'summary' && this.summaries) this.summarize(id, body);
    if (body.type !== 'message') return;
    const { message } = body;
    if (message.role === 'tool') for (const part of message.content) this.addResult(id, part);
    else if (isKnown(message)) this.push([id], whole(body));
  }

  /** Returns a copy. Later changes of this list do not affect the copy. */
  copy(): MessageList {
    return this.with(this.messages);
  }

  /** Returns a list with the same entries and other messages. */
  with(messages: readonly Message[]): MessageList {
    const copy = new MessageList(this.summaries, [...messages], [...this.sources]);
    copy.open = this.open;
    return copy;
  }

  /** Returns the index of the message that an entry belongs to, or -1. */
  indexOf(id: string): number {
    return this.sources.findLastIndex((ids) => ids.includes(id));
  }

  /** Returns the ids of the entries of a message. */
  idsAt(index: number): readonly string[] {
    return this.sources[index] ?? [];
  }

  /** Marks an answer as suspended or denied. */
  mark(id: string, state: AnswerState): void {
    this.replace(id, ({ suspended: _suspended, denied: _denied, ...answer }) =>
      state === undefined ? answer : { ...answer, [state]: true },
    );
  }

  /** Replaces a message of the model. The new message must have the same calls. */
  replace(id: string, change: (message: AssistantMessage) => AssistantMessage): void {
    const index = this.indexOf(id);
    const message = this.messages[index];
    if (message?.role === 'assistant') this.messages[index] = change(message);
  }

  /**
   * Returns the messages, with an error result for each call without a result. Returns the array itself if every call
   * has a result.
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

  /** Returns the calls of a message that have no result. */
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

  /** Adds a result to the latest message with its call. Ignores a result without a call, and a second result. */
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

/** Returns the result of a call that was interrupted because its process stopped. */
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
