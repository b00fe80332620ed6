import { EventEmitter } from 'eventemitter3';
import type { Logger } from '../internal/logger.js';
import { isPromise } from '../internal/promise.js';
import type { AgentEvent } from './agent-event.js';

/** Who hears of a run. An event is made only while somebody listens. */
export interface Ears {
  readonly loud: boolean;
  emit(event: AgentEvent): void;
}

/** The listeners of an agent. */
export class EventHub implements Ears {
  loud = false;
  emitter: EventEmitter<string> | undefined = undefined;

  constructor(private readonly logger: Logger) {}

  on(type: string, listener: (event: never) => unknown): void {
    this.emitter ??= new EventEmitter();
    this.loud = true;
    this.emitter.on(type, listener as (event: AgentEvent) => void);
  }

  off(type: string, listener: (event: never) => unknown): void {
    this.emitter?.off(type, listener as (event: AgentEvent) => void);
    if (this.emitter?.eventNames().length !== 0) return;
    this.emitter = undefined;
    this.loud = false;
  }

  /** A listener that throws is logged: it watches the run, it does not take part. */
  emit(event: AgentEvent): void {
    const { emitter } = this;
    if (emitter === undefined) return;
    for (const listener of emitter.listeners(event.type)) {
      const failed = (error: unknown) => this.logger.error(`A listener of "${event.type}" failed.`, error);
      try {
        const returned = (listener as (event: AgentEvent) => unknown)(event);
        if (isPromise(returned)) returned.then(undefined, failed);
      } catch (error) {
        failed(error);
      }
    }
  }
}

/** The consumer of a run's stream, and the listeners of its agent. */
export class StreamEars implements Ears {
  readonly loud = true;

  constructor(
    private readonly sink: (event: AgentEvent) => void,
    private readonly hub: EventHub,
  ) {}

  emit(event: AgentEvent): void {
    this.sink(event);
    this.hub.emit(event);
  }
}
