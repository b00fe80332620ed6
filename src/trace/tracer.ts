import type { AgentEvent } from '../agent/agent-event.js';
import type { RunListeners } from '../agent/listeners.js';
import type { Clock } from '../internal/clock.js';
import type { HookRun, HookSite, ModelOutcome, RunWatch, WatchedHook } from '../lifecycle/hook-run/hook-run.js';
import type { ModelCallRequest } from '../lifecycle/lifecycle.js';
import { contextSizes } from '../model/context-sizes.js';
import { costOf, findPrice, type ModelPrice } from '../model/price.js';
import type { Entry } from '../state/record/entry.js';
import type { TraceRecord } from './record.js';
import { tracedError } from './traced-error.js';
import { WatchedListeners } from './watched-listeners.js';

/** Converts the events and calls of a run and its nested runs to records. */
export class Tracer implements RunWatch {
  constructor(
    private readonly clock: Clock,
    private readonly write: (record: TraceRecord) => void,
    private readonly prices: Readonly<Record<string, ModelPrice>>,
  ) {}

  listen<Listeners extends object>(listeners: Listeners, path: readonly string[] | undefined): Listeners {
    return new WatchedListeners(listeners as unknown as RunListeners, this, path) as unknown as Listeners;
  }

  event(event: AgentEvent): void {
    const { error, result, ...rest } = event as unknown as Record<string, unknown>;
    const record: Record<string, unknown> = { at: this.clock.now(), ...rest };
    if (error !== undefined) record.error = tracedError(error);
    if (result !== undefined) record.result = event.type === 'run-end' ? resultOf(result) : withoutBytes(result);
    this.write(record as unknown as TraceRecord);
  }

  /** Writes a record for an entry of the session. An entry without a run id belongs to the run `outermost`. */
  entry({ id, parent, at, run, by, path, body }: Entry, outermost: string): void {
    const role = body.type === 'message' ? body.message.role : undefined;
    this.write({ type: 'entry', at, runId: run ?? outermost, path, id, parent, by, body: body.type, role });
  }

  startHook({ entry, point, run, call }: HookSite): WatchedHook {
    const { clock, write } = this;
    const at = clock.now();
    let waited = 0;
    return {
      startNext() {
        const since = clock.now();
        const stop = () => {
          waited += clock.now() - since;
        };
        return (result) => void result.then(stop, stop);
      },
      end() {
        const ms = clock.now() - at;
        const { id: runId, path, turn } = run.context;
        const place = { type: 'hook', at, runId, path, turn } as const;
        write({ ...place, lifecycle: entry.name, point, call, ms, ownMs: Math.max(0, ms - waited) });
      },
    };
  }

  startModelCall(run: HookRun, request: ModelCallRequest, attempt: number): (outcome: ModelOutcome) => void {
    const at = this.clock.now();
    const context = { sizes: contextSizes(request), messages: request.messages.length };
    return ({ response, error }) => {
      const { id: runId, path, turn } = run.context;
      const ms = this.clock.now() - at;
      const call = {
        type: 'model-call',
        at,
        runId,
        path,
        turn,
        attempt,
        model: request.model.id,
        ms,
        context,
      } as const;
      if (response === undefined) return this.write({ ...call, error: tracedError(error) });
      const price = findPrice(this.prices, request.model.id);
      const cost = price && costOf(response.usage, price);
      this.write({ ...call, usage: response.usage, cost, finishReason: response.finishReason });
    };
  }
}

/** Replaces the bytes of images and files in a tool result by their size. */
function withoutBytes(result: unknown): unknown {
  const { content, ...rest } = Object(result);
  return Array.isArray(content) ? { ...rest, content: content.map(partWithoutBytes) } : result;
}

function partWithoutBytes(part: object): object {
  const shown = ([name, value]: [string, unknown]) => [
    name,
    value instanceof Uint8Array ? `[${value.byteLength} bytes]` : value,
  ];
  return Object.fromEntries(Object.entries(part).map(shown));
}

function resultOf(result: unknown) {
  const { status, text, turns, usage, finishReason, pending } = Object(result);
  return { status, text, turns, usage, finishReason, pending };
}
