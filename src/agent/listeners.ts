import { EventEmitter } from 'eventemitter3';
import type { Logger } from '../internal/logger.js';
import { callable, required } from '../internal/options/rules.js';
import { invalidOption, validateOption } from '../internal/options/validate.js';
import { isPromise } from '../internal/promise.js';
import type { AgentEvent } from './agent-event.js';

/** Hears the events of a run. An event is made only while somebody listens. */
export interface RunListeners {
  readonly active: boolean;
  /** True while somebody listens to this type of event. */
  hears(type: AgentEvent['type']): boolean;
  emit(event: AgentEvent): void;
}

type Listener = (event: never) => unknown;
type GuardedListener = (event: AgentEvent) => void;

const TYPES =
  /^((run|turn|model|tool|compaction)-(start|end)|(text|reasoning|tool|tool-input)-delta|(run|model)-error|decision)$/;

/** The listeners of an agent, in the order in which they came. An event goes to those who listened when it happened. */
export class AgentListeners implements RunListeners {
  active = false;
  private readonly emitter = new EventEmitter<AgentEvent['type']>();
  /** The guarded form of each listener, so that `off` takes the function that `on` was given. */
  private readonly guarded = new WeakMap<Listener, GuardedListener>();

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
    // Without a listener, the emitter would take off all of them.
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

  /** A listener watches the run and takes no part in it: what it throws is logged, and the next one hears the event. */
  private guard(listener: Listener): GuardedListener {
    return (event) => {
      const failed = (error: unknown) => this.logger.error(`A listener of "${event.type}" failed.`, error);
      try {
        const returned = listener(event as never);
        if (isPromise(returned)) returned.then(undefined, failed);
      } catch (error) {
        failed(error);
      }
    };
  }

  private refresh(): void {
    this.active = this.emitter.eventNames().length > 0;
  }
}

/** The consumer of a run's stream, and the listeners of its agent. */
export class StreamListeners implements RunListeners {
  readonly active = true;

  constructor(
    private readonly sink: (event: AgentEvent) => void,
    private readonly hub: AgentListeners,
  ) {}

  /** The consumer of a stream is given every event. */
  hears(): boolean {
    return true;
  }

  emit(event: AgentEvent): void {
    this.sink(event);
    this.hub.emit(event);
  }
}
