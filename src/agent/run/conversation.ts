import type { Message } from '../../model/message.js';
import type { ResumedCalls } from './continuation.js';

/** The messages of one run: what it added, what it works with, what the model is sent, and what waits to join. */
export class Conversation {
  /** What this run added. The same array as `history` while the two are equal. */
  added: Message[] = [];
  history: Message[] = this.added;
  /** What the model is sent: the history with the instructions before it. The same array when there are none. */
  outgoing: Message[];
  /** The calls of a resumed run, until they have their results. */
  resuming: ResumedCalls | undefined = undefined;
  /** Added by hooks and tools: joins after the results of the turn. */
  private queue: Message[] | undefined = undefined;
  private readonly instructions: string | undefined;

  constructor(instructions: string | undefined) {
    this.instructions = instructions;
    this.outgoing = this.withInstructions();
  }

  /** Adds a message that the run made. */
  push(message: Message): void {
    this.added.push(message);
    if (this.history !== this.added) this.history.push(message);
    if (this.outgoing !== this.history) this.outgoing.push(message);
  }

  /** Replaces the working messages from here on; what the run added stays in its record. */
  replace(messages: readonly Message[]): void {
    this.history = [...messages];
    this.outgoing = this.withInstructions();
  }

  /** Takes over what a hook made of the history. A hook that changed the list in place has replaced it as well. */
  adopt(messages: readonly Message[]): void {
    const { history, outgoing } = this;
    if (messages !== history || (outgoing !== history && isBehind(outgoing, history))) this.replace(messages);
  }

  /** Has a message join at the next `flush`. */
  enqueue(message: Message): void {
    this.queue ??= [];
    this.queue.push(message);
  }

  /** As `enqueue`, before what waits already. */
  enqueueFirst(messages: readonly Message[]): void {
    if (messages.length > 0) this.queue = [...messages, ...(this.queue ?? [])];
  }

  get hasQueued(): boolean {
    return this.queue !== undefined;
  }

  /** Moves what waits into the conversation. Returns false when nothing did. */
  flush(): boolean {
    if (this.queue === undefined) return false;
    for (const message of this.queue) this.push(message);
    this.queue = undefined;
    return true;
  }

  private withInstructions(): Message[] {
    const { instructions, history } = this;
    return instructions === undefined ? history : [{ role: 'system', content: instructions }, ...history];
  }
}

/** True when `outgoing` is not `history` with the instructions before it. */
function isBehind(outgoing: readonly Message[], history: readonly Message[]): boolean {
  return outgoing.length > history.length + 1 || history.some((message, i) => message !== outgoing[i + 1]);
}
