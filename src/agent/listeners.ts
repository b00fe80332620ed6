import type { Logger } from '../internal/logger.js';
import { callable, required } from '../internal/options/rules.js';
import { invalidOption, validateOption } from '../internal/options/validate.js';
import { isPromise } from '../internal/promise.js';
import type { AgentEvent } from './agent-event.js';

/** Who hears of a run. An event is made only while somebody listens. */
export interface RunListeners {
  readonly active: boolean;
  emit(event: AgentEvent): void;
}

type Listener = (event: never) => unknown;

const TYPES = /^((run|turn|model|tool)-(start|end)|(text|reasoning|tool)-delta|run-error|decision)$/;

/** The listeners of an agent, in the order in which they came. */
export class AgentListeners implements RunListeners {
  active = false;
  /** Replaced, never changed: an event goes to those who listened as it happened. */
  private listeners: readonly (readonly [type: string, listener: Listener])[] = [];

  constructor(private readonly logger: Logger) {}

  on(type: string, listener: Listener): void {
    validateOption('listener', listener, required(callable));
    if (!TYPES.test(type)) throw invalidOption('type', 'the type of an event', type);
    this.replace([...this.listeners, [type, listener]]);
  }

  off(type: string, listener: Listener): void {
    this.replace(this.listeners.filter((it) => it[0] !== type || it[1] !== listener));
  }

  /** Whether anybody listens to this type of event. */
  hears(type: AgentEvent['type']): boolean {
    return this.listeners.some((it) => it[0] === type);
  }

  /** A listener that throws is logged: it watches the run, it does not take part. */
  emit(event: AgentEvent): void {
    for (const [type, listener] of this.listeners) {
      if (type !== event.type) continue;
      const failed = (error: unknown) => this.logger.error(`A listener of "${type}" failed.`, error);
      try {
        const returned = (listener as (event: AgentEvent) => unknown)(event);
        if (isPromise(returned)) returned.then(undefined, failed);
      } catch (error) {
        failed(error);
      }
    }
  }

  private replace(listeners: AgentListeners['listeners']): void {
    this.listeners = listeners;
    this.active = listeners.length > 0;
  }
}

/** The consumer of a run's stream, and the listeners of its agent. */
export class StreamListeners implements RunListeners {
  readonly active = true;

  constructor(
    private readonly sink: (event: AgentEvent) => void,
    private readonly hub: AgentListeners,
  ) {}

  emit(event: AgentEvent): void {
    this.sink(event);
    this.hub.emit(event);
  }
}
