import { EventEmitter } from 'eventemitter3';
import type { Logger } from '../internal/logger.js';
import { callable, required } from '../internal/options/rules.js';
import { invalidOption, validateOption } from '../internal/options/validate.js';
import { isPromise } from '../internal/promise.js';
import type { AgentEvent } from './agent-event.js';

/** Receives the events of a run. Event objects are only created while there is a listener. */
export interface RunListeners {
  readonly active: boolean;
  /** True if this type of event has a listener. */
  hears(type: AgentEvent['type']): boolean;
  emit(event: AgentEvent): void;
}

type Listener = (event: never) => unknown;
type GuardedListener = (event: AgentEvent) => void;

const TYPES =
  /^((run|turn|model|tool|compaction)-(start|end)|(text|reasoning|tool|tool-input)-delta|(run|model|extension|server)-error|decision|post)$/;

/** The listeners of an agent, called in the order of registration. */
export class AgentListeners implements RunListeners {
  active = false;
  private readonly emitter = new EventEmitter<AgentEvent['type']>();
  /** Maps each listener to its guarded function, so that `off` can remove the guarded function. */
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
  private guard(listener: Listener): GuardedListener {
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

/** Sends every event to the consumer of a stream, and then to the listeners of the agent. */
export function streamListeners(sink: (event: AgentEvent) => void, hub: AgentListeners): RunListeners {
  return {
    active: true,
    hears: () => true,
    emit(event) {
      sink(event);
      hub.emit(event);
    },
  };
}
