import { expect } from 'vitest';
import { type ReadSSE, sseOf } from '../read-sse.js';

/** Returns how many events the run of an event had when it was sent. 0 without an event. */
export function countOf(event: ReadSSE | undefined): number {
  return Number(event?.id.split(':').at(-1) ?? 0);
}

/** A page that follows the running answer of a chat. Its connection is cut, and it comes back to the next process. */
export class CutReader {
  readonly events: ReadSSE[] = [];
  private readonly cuts: number[];
  private isConnected = false;

  /** `cuts` are counts of events, in ascending order. The connection is cut at the first event from each on. */
  constructor(cuts: readonly number[]) {
    this.cuts = [...cuts];
  }

  /** True if the page is connected, and has come back from each cut up to this count of events. */
  isBackFrom(count: number): boolean {
    return this.isConnected && (this.cuts[0] ?? Number.POSITIVE_INFINITY) > count;
  }

  /** Follows the answer to its end. The URLs are those of the processes in the order of the connections. */
  async follow(chat: string, urls: readonly string[]): Promise<void> {
    for (let visit = 0; ; visit += 1) {
      const connection = new AbortController();
      const { signal } = connection;
      const last = this.events.at(-1)?.id;
      const headers = last === undefined ? {} : { 'last-event-id': last };
      const response = await fetch(`${urls[visit % urls.length]}/sse/stream?id=${chat}`, { headers, signal });
      this.isConnected = true;
      // The run has ended.
      if (response.status === 204) return;
      expect(response.status).toBe(200);
      if (!(await this.readUntilCut(response))) return;
      this.isConnected = false;
      connection.abort();
    }
  }

  /** Returns false at the end of the answer. */
  private async readUntilCut(response: Response): Promise<boolean> {
    if (this.isCut()) return true;
    for await (const event of sseOf(response)) {
      this.events.push(event);
      if (this.isCut()) return true;
    }
    return false;
  }

  private isCut(): boolean {
    const count = countOf(this.events.at(-1));
    if (this.cuts[0] === undefined || this.cuts[0] > count) return false;
    while (this.cuts[0] !== undefined && this.cuts[0] <= count) this.cuts.shift();
    return true;
  }
}

/** Joins deltas, which a server joins too while they wait. Keeps the last progress of a tool call. */
export function joined(events: readonly ReadSSE[]): ReadSSE[] {
  const all: ReadSSE[] = [];
  for (const event of events) {
    const before = all.at(-1);
    const isJoined = before?.event === event.event && event.event.endsWith('-delta');
    if (isJoined) all.pop();
    all.push(isJoined ? { ...event, data: joinedData(before.data, event.data) } : event);
  }
  return all;
}

function joinedData(before: unknown, data: unknown): unknown {
  const [first, next] = [before, data] as readonly { readonly text?: string }[];
  return first?.text === undefined ? data : { ...next, text: `${first.text}${next?.text}` };
}
