import type { JsonValue } from '../internal/json.js';
import { type RunLog, type RunLogAnswer, RunLogGoneError, type RunOutcome } from '../state/run-log/run-log.js';

/**
 * The events that an earlier attempt has written to the log and that this attempt has not emitted again yet, as JSON.
 */
interface KnownEvents {
  readonly left: readonly string[];
  /** The offset of the next event in the log. Undefined if the log is closed. */
  readonly end: number | undefined;
}

/**
 * The log of a durable run. A replay emits the events of stored steps again, but the log stores each event only once.
 *
 * A closed log takes no more events, but does not end the run, because only a step can end a durable run. An attempt
 * that has ended writes nothing.
 */
export class RepeatedLog implements Pick<RunLog, 'append' | 'close'> {
  private known: KnownEvents | undefined = undefined;

  constructor(
    private readonly log: RunLog,
    private readonly engine: { readonly hasEnded: boolean },
  ) {}

  async append(run: string, first: number, events: readonly JsonValue[]): Promise<RunLogAnswer> {
    const end = first + events.length;
    if (this.engine.hasEnded) return { appended: true, end, unwatchedMs: 0 };
    const known = this.known ?? (await this.eventsOf(run));
    const left = [...known.left];
    const added = events.filter((event) => {
      const at = left.indexOf(JSON.stringify(event));
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    this.known = known;
    if (known.end === undefined) return { appended: true, end, unwatchedMs: 0 };
    const answer = await this.log.append(run, known.end, added);
    const isOpen = answer.appended && answer.outcome === undefined;
    this.known = { left, end: isOpen ? known.end + added.length : undefined };
    return { appended: true, end, unwatchedMs: answer.unwatchedMs };
  }

  close(run: string, outcome: RunOutcome): ReturnType<RunLog['close']> {
    return this.engine.hasEnded ? outcome : this.log.close(run, outcome);
  }

  private async eventsOf(run: string): Promise<KnownEvents> {
    const left: string[] = [];
    for (let from = 0; ; ) {
      const page = await Promise.resolve(this.log.read(run, from)).catch((error: unknown) => {
        if (!(error instanceof RunLogGoneError) || error.first <= from) throw error;
        from = error.first;
        return 'gone' as const;
      });
      if (page === undefined) return { left, end: 0 };
      if (page === 'gone') continue;
      // A replay emits no text deltas, so a delta in the log cannot belong to a later step.
      for (const { event } of page.events) if (!isDelta(event)) left.push(JSON.stringify(event));
      const last = page.events.at(-1);
      if (last !== undefined) from = last.offset + 1;
      if (page.outcome !== undefined) return { left, end: undefined };
      if (last === undefined || from >= page.end) return { left, end: page.end };
    }
  }
}

function isDelta(event: JsonValue): boolean {
  return String((event as { readonly type?: unknown } | null)?.type).endsWith('-delta');
}
