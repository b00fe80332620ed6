import { isObject } from '../../internal/json.js';
import type { ModelCallRequest } from '../../lifecycle/lifecycle.js';
import type { Message } from '../../model/message.js';
import type { Tool } from '../../tools/tool.js';

/** The tools that the model of one run has found by search, and the tools that are hidden from it. */
export class FoundTools {
  /** The names of tools that a search returned or the model called. The latest name is last. */
  readonly names = new Set<string>();
  /** All tools of the last model request. Empty if the request had so few tools that none of them had to be hidden. */
  tools: readonly Tool[] = [];
  /** The names of the tools that were left out of the last model request. */
  hidden: ReadonlySet<string> = new Set();
  private scanned = 0;
  private last: Message | undefined = undefined;

  constructor(private readonly searchName: string) {}

  /**
   * Skips the messages up to the last user message, so that only searches of the current run count. A resumed run still
   * counts its earlier searches, because they follow the same user message.
   */
  skipEarlierRuns(messages: readonly Message[]): void {
    this.skip(messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1));
  }

  private skip(messages: readonly Message[]): void {
    this.scanned = messages.length;
    this.last = messages.at(-1);
  }

  /** Reads the messages since the last call. Reads all messages if a lifecycle has replaced them. */
  scan(messages: readonly Message[]): void {
    if (this.scanned > 0 && messages[this.scanned - 1] !== this.last) this.scanned = 0;
    for (const message of messages.slice(this.scanned)) this.read(message);
    this.skip(messages);
  }

  private read({ role, content }: Message): void {
    if (typeof content === 'string' || (role !== 'assistant' && role !== 'tool')) return;
    for (const part of content) {
      if (part.type === 'tool-call') this.add(part.name);
      if (part.type === 'tool-result' && part.name === this.searchName) this.take(part.structured);
    }
  }

  private take(structured: unknown): void {
    const found = isObject(structured) && Array.isArray(structured.tools) ? structured.tools : [];
    // The best match comes first in a result, and must be forgotten last.
    for (const name of [...found].reverse()) if (typeof name === 'string') this.add(name);
  }

  private add(name: string): void {
    this.names.delete(name);
    this.names.add(name);
  }
}

/**
 * Returns the tools of a request with all members of the run's tools, such as `origin`. A request may lack these
 * members.
 */
export function wholeTools({ tools, run }: ModelCallRequest): readonly Tool[] {
  const byName = new Map(run.tools.map((tool) => [tool.name, tool]));
  return tools.map((spec) => ({ ...byName.get(spec.name), ...spec }) as Tool);
}
