import type { AgentEvent } from '../agent/agent-event.js';
import type { EventSink, RunListeners } from '../agent/listeners.js';
import type { RunWatch } from '../lifecycle/hook-run/hook-run.js';

/** A RunWatch that also receives the events of the run. */
interface EventWatch extends RunWatch {
  event(event: AgentEvent): void;
}

/** Passes each event of a run to the listeners of the run and to the trace. The trace receives no stream deltas. */
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
