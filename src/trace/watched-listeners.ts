import type { AgentEvent } from '../agent/agent-event.js';
import type { EventSink, RunListeners } from '../agent/listeners.js';
import type { RunWatch } from '../lifecycle/hook-run/hook-run.js';

/** A run watch that also receives events. */
interface EventWatch extends RunWatch {
  event(event: AgentEvent): void;
}

/** Sends every event of a run to the listeners of the run, and every event except stream deltas to the trace. */
export class WatchedListeners implements RunListeners {
  readonly active = true;

  constructor(
    private readonly others: RunListeners,
    readonly watch: EventWatch,
    private readonly path: readonly string[] | undefined,
  ) {}

  get nested(): EventSink | undefined {
    return this.others.nested;
  }

  hears(type: AgentEvent['type']): boolean {
    return this.others.hears(type);
  }

  emit(event: AgentEvent): void {
    if (!event.type.endsWith('-delta')) {
      this.watch.event(this.path === undefined ? event : { ...event, path: this.path });
    }
    if (this.others.active) this.others.emit(event);
  }
}
