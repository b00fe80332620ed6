import { EventEmitter } from 'eventemitter3';
import type { Logger } from '../internal/logger.js';
import { callable, required } from '../internal/options/rules.js';
import { invalidOption, validateOption } from '../internal/options/validate.js';
import { isPromise } from '../internal/promise.js';
import type { RunWatch } from '../lifecycle/hook-run/hook-run.js';
import type { AgentEvent } from './agent-event.js';

/** Receives the events of a run. An event object is created only if the run has a listener. */
export interface RunListeners {
  readonly active: boolean;
  /** True if this type of event has a listener. */
  hears(type: AgentEvent['type']): boolean;
  emit(event: AgentEvent): void;
  /** Receives the events of nested runs. Undefined if no listener wants these events. */
  readonly nested?: EventSink | undefined;
  /** Observes the hooks and the model calls of the run and of its nested runs. */
  readonly watch?: RunWatch | undefined;
}

export type EventSink = (event: AgentEvent) => void;

type Listener = (event: never) => unknown;

const TYPES =
  /^((run|turn|model|tool|compaction)-(start|end)|(text|reasoning|tool|tool-input)-delta|(run|model|extension|server)-error|cache-miss|decision|handoff|post)$/;

/** The listeners of an agent, called in the order of registration. */
export class AgentListeners implements RunListeners {
  active = false;
  private readonly emitter = new EventEmitter<AgentEvent['type']>();
  /** Maps each listener to its guarded function, so that `off` can remove the guarded function. */
  private readonly guarded = new WeakMap<Listener, EventSink>();

  constructor(private readonly logger: Logger) {}

  on(type: AgentEvent['type'], listener: Listener, isOnce = false): void {
    validateOption('listener', listener, required(callable));
    if (!TYPES.test(type)) throw invalidOption('type', 'the type of an event', type);
    const guarded = this.guarded.get(listener) ?? this.guard(listener);
    this.guarded.set(listener, guarded);
    if (isOnce) this.emitter.once(type, guarded);
    else this.emitter.on(type, guarded);
    this.active = true;
  }

  off(type: AgentEvent['type'], listener: Listener): void {
    const guarded = this.guarded.get(listener);
    // With an undefined listener, the emitter would remove all listeners.
    if (guarded === undefined) return;
    this.emitter.off(type, guarded);
    this.refresh();
  }

  hears(type: AgentEvent['type']): boolean {
    return this.emitter.listenerCount(type) > 0;
  }

  emit(event: AgentEvent): void {
    const wasHeard = this.emitter.emit(event.type, event);
    if (wasHeard && !this.hears(event.type)) this.refresh();
  }

  /** Wraps a listener so that its errors are logged and do not reach the run or other listeners. */
  guard(listener: Listener): EventSink {
    return (event) => {
      const logError = (error: unknown) => this.logger.error(`A listener of "${event.type}" failed.`, error);
      try {
        const returned = listener(event as never);
        if (isPromise(returned)) returned.then(undefined, logError);
      } catch (error) {
        logError(error);
      }
    };
  }

  private refresh(): void {
    this.active = this.emitter.eventNames().length > 0;
  }
}

/** Receivers of the events of a run, besides the listeners of its agent. */
interface Destinations {
  /** The consumer of the stream of the run. */
  readonly sink: EventSink | undefined;
  /** True if the consumer also gets the events of the nested runs. */
  readonly hasNested: boolean;
  /** The consumers of the enclosing runs that asked for nested events. */
  readonly around: EventSink | undefined;
  readonly path: readonly string[] | undefined;
}

/** Sends the events of a run to the consumers of streams, and then to the listeners of its agent. Adds the path of the run. */
export class StreamListeners implements RunListeners {
  readonly nested: EventSink | undefined;

  constructor(
    private readonly hub: AgentListeners,
    private readonly to: Destinations,
  ) {
    const { sink, hasNested, around } = to;
    this.nested = hasNested && sink !== undefined ? both(sink, around) : around;
  }

  get active(): boolean {
    return this.isStreamed || this.hub.active;
  }

  hears(type: AgentEvent['type']): boolean {
    return this.isStreamed || this.hub.hears(type);
  }

  emit(event: AgentEvent): void {
    const { sink, around, path } = this.to;
    const placed = path === undefined ? event : { ...event, path };
    sink?.(placed);
    around?.(placed);
    this.hub.emit(placed);
  }

  private get isStreamed(): boolean {
    return this.to.sink !== undefined || this.to.around !== undefined;
  }
}

function both(first: EventSink, second: EventSink | undefined): EventSink {
  if (second === undefined) return first;
  return (event) => {
    first(event);
    second(event);
  };
}
