import { expect } from 'vitest';
import { type ReadSSE, sseOf } from '../read-sse.js';

/** Returns how many events the run of an event had when it was sent. 0 without an event. */
export function countOf(event: ReadSSE | undefined): number {
  return Number(event?.id.split(':').at(-1) ?? 0);
}

/** Returns the URL of the process that a page asks next. */
export type Route = (visit: number) => string;

/** A page that follows the running answer of a chat. Its connection is cut, and it comes back to another process. */
export class CutReader {
  readonly events: ReadSSE[] = [];
  private readonly cuts: number[];
  private isConnected = false;

  /**
   * `cuts` are counts of events, in ascending order. The connection is cut at the first event from each on. With `survives`,
   * a process may be killed.
   */
  constructor(
    cuts: readonly number[],
    private readonly survives = false,
  ) {
    this.cuts = [...cuts];
  }

  /** True if the page is connected, and has come back from each cut up to this count of events. */
  isBackFrom(count: number): boolean {
    return this.isConnected && (this.cuts[0] ?? Number.POSITIVE_INFINITY) > count;
  }

  /** Follows the answer until its stream ends, or until nothing runs. */
  async follow(chat: string, route: Route): Promise<void> {
    for (let visit = 0; await this.visit(`${route(visit)}/sse/stream?id=${chat}`); visit += 1);
  }

  /** Returns true if the connection was cut. */
  private async visit(url: string): Promise<boolean> {
    const connection = new AbortController();
    const { signal } = connection;
    const last = this.events.at(-1)?.id;
    try {
      const response = await fetch(url, { headers: last === undefined ? {} : { 'last-event-id': last }, signal });
      this.isConnected = true;
      expect([200, 204]).toContain(response.status);
      if (this.isCut()) return true;
      for await (const event of sseOf(response)) {
        this.events.push(event);
        if (this.isCut()) return true;
      }
      if (response.status === 200) expect(this.events.at(-1)?.event).toBe('run-end');
      return false;
    } catch (error) {
      if (this.survives && error instanceof TypeError) return true;
      throw error;
    } finally {
      this.isConnected = false;
      connection.abort();
    }
  }

  private isCut(): boolean {
    const count = countOf(this.events.at(-1));
    if (this.cuts[0] === undefined || this.cuts[0] > count) return false;
    while (this.cuts[0] !== undefined && this.cuts[0] <= count) this.cuts.shift();
    return true;
  }
}

/**
 * Returns what a page has read, as one string that does not depend on which deltas were joined. A page that has read less has
 * the beginning of it.
 */
export function readOf(events: readonly ReadSSE[]): string {
  return events
    .map(({ event, data }) => (event === 'text-delta' ? textOf(data) : `\n${JSON.stringify(data)}\n`))
    .join('');
}

function textOf(data: unknown): string {
  return (data as { readonly text: string }).text;
}
