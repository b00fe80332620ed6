import type { Summary } from '../../lifecycle/run-context.js';
import type { AssistantMessage, Message } from '../../model/message.js';
import { shortenResults } from '../../model/shorten.js';
import type { NestedRun } from '../run-result.js';
import type { Continuation } from './resume/continuation.js';

/** The messages of one run. */
export class Conversation {
  /** The messages that this run added. The same array as `history` while both have the same content. */
  added: Message[] = [];
  /** The working messages, without the instructions. */
  history: Message[] = this.added;
  /** The messages sent to the model: the instructions and the history. Without instructions, `history` itself. */
  outgoing: Message[];
  /** The open calls or the open answer of the suspended run that this run resumes. Cleared once they are decided. */
  resuming: Continuation | undefined = undefined;
  /** The message that started the run. */
  input: Message | undefined = undefined;
  /** The number of added messages that the record of the session already has. */
  saved = 0;
  /** Messages from hooks and tools, which `addQueued` appends after the results of the turn. */
  queue: Message[] | undefined = undefined;
  nested: NestedRun[] | undefined = undefined;
  /** Maps a message that a hook changed to the original message. */
  private origins: WeakMap<Message, Message> | undefined = undefined;

  /** The agent name that new assistant messages get. Undefined for the agent that started the run. */
  agent: string | undefined = undefined;

  constructor(public instructions: string | undefined) {
    this.outgoing = instructions === undefined ? this.added : this.withInstructions();
  }

  /** Sets the messages that the run continues from, and the calls or the answer that it resumes. */
  continueFrom(start: Continuation): void {
    this.replace(start.history);
    if (start.calls !== undefined || start.answer !== undefined) this.resuming = start;
  }

  push(message: Message): void {
    this.added.push(message);
    if (this.history !== this.added) this.history.push(message);
    if (this.outgoing !== this.history) this.outgoing.push(message);
  }

  /** Adds a message of the current agent. */
  say(message: AssistantMessage): void {
    this.push(marked(message, this.agent));
  }

  /** Replaces the messages that the model reads. `added` does not change. */
  replace(messages: readonly Message[]): void {
    this.history = [...messages];
    this.outgoing = this.withInstructions();
  }

  /**
   * Replaces the messages that the model reads with the messages from `beforeModel`. Also detects a hook that changed
   * the array in place.
   */
  adopt(messages: readonly Message[]): void {
    const { history, outgoing } = this;
    if (messages !== history && messages.length === history.length) this.rememberOrigins(messages);
    if (messages !== history || (outgoing !== history && isBehind(outgoing, history))) this.replace(messages);
  }

  /** Replaces a message by another one with the same tool calls. */
  swap(before: Message, after: Message): void {
    this.origins ??= new WeakMap();
    this.origins.set(after, this.originOf(before));
    for (const list of new Set([this.added, this.history, this.outgoing])) {
      const at = list.indexOf(before);
      if (at >= 0) list[at] = after;
    }
  }

  /** Replaces the messages before `from` with a summary. */
  summarize({ from, keep = [], shorten = [] }: Summary, replacement: Message | undefined): void {
    const { history } = this;
    const start = from === undefined ? history.length : history.indexOf(from);
    const kept = history.slice(0, start).filter((message) => keep.includes(message));
    const short = (message: Message) => {
      const chars = shorten.find((one) => one.message === message)?.chars;
      return chars === undefined ? message : shortenResults(message, chars);
    };
    const before = replacement === undefined ? kept : [...kept, replacement];
    this.replace([...before, ...history.slice(start)].map(short));
  }

  /** Returns the original message of a message that a hook changed. */
  originOf(message: Message): Message {
    return this.origins?.get(message) ?? message;
  }

  enqueue(message: Message): void {
    this.queue ??= [];
    this.queue.push(marked(message, this.agent));
  }

  /** Queues messages before those that are already queued. */
  enqueueFirst(messages: readonly Message[]): void {
    if (messages.length > 0) this.queue = [...messages, ...(this.queue ?? [])];
  }

  addQueued(): void {
    if (this.queue === undefined) return;
    for (const message of this.queue) this.push(message);
    this.queue = undefined;
  }

  private rememberOrigins(messages: readonly Message[]): void {
    const origins = this.origins ?? new WeakMap();
    this.origins = origins;
    for (const [at, message] of messages.entries()) {
      const before = this.history[at] as Message;
      if (message !== before) origins.set(message, this.originOf(before));
    }
  }

  private withInstructions(): Message[] {
    const { instructions, history } = this;
    return instructions === undefined ? history : [{ role: 'system', content: instructions }, ...history];
  }
}

function marked(message: Message, agent: string | undefined): Message {
  return agent === undefined || message.role !== 'assistant' ? message : { ...message, agent };
}

/**
 * True if a hook changed `outgoing` or `history` so that `outgoing` is no longer the instructions followed by
 * `history`.
 */
function isBehind(outgoing: readonly Message[], history: readonly Message[]): boolean {
  return outgoing.length > history.length + 1 || history.some((message, i) => message !== outgoing[i + 1]);
}
