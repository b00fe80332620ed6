import type { Message } from '../../model/message.js';
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
  /** The number of added messages that were passed to the session for a save. */
  saved = 0;
  /** Messages from hooks and tools, which `addQueued` appends after the results of the turn. */
  queue: Message[] | undefined = undefined;

  constructor(private readonly instructions: string | undefined) {
    this.outgoing = instructions === undefined ? this.added : this.withInstructions();
  }

  /** Takes over the messages that the run continues from. */
  continueFrom(start: Continuation): void {
    this.replace(start.history);
    if (start.calls !== undefined || start.answer !== undefined) this.resuming = start;
  }

  push(message: Message): void {
    this.added.push(message);
    if (this.history !== this.added) this.history.push(message);
    if (this.outgoing !== this.history) this.outgoing.push(message);
  }

  /** Replaces the working messages. `added` does not change. */
  replace(messages: readonly Message[]): void {
    this.history = [...messages];
    this.outgoing = this.withInstructions();
  }

  /** Takes over the messages from `beforeModel`. Also detects that a hook changed the array in place. */
  adopt(messages: readonly Message[]): void {
    const { history, outgoing } = this;
    if (messages !== history || (outgoing !== history && isBehind(outgoing, history))) this.replace(messages);
  }

  enqueue(message: Message): void {
    this.queue ??= [];
    this.queue.push(message);
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

  private withInstructions(): Message[] {
    const { instructions, history } = this;
    return instructions === undefined ? history : [{ role: 'system', content: instructions }, ...history];
  }
}

/** True if `outgoing` is not the instructions followed by `history`. */
function isBehind(outgoing: readonly Message[], history: readonly Message[]): boolean {
  return outgoing.length > history.length + 1 || history.some((message, i) => message !== outgoing[i + 1]);
}
