import { EventEmitter } from 'eventemitter3';
import type { Logger } from '../internal/logger.js';
import { isPromise } from '../internal/promise.js';
import type { AgentEvent } from './agent-event.js';

/** The listeners of an agent. `emitter` is there only while somebody listens, so that an event is made only then. */
export class EventHub {
  emitter: EventEmitter<string> | undefined = undefined;

  constructor(private readonly logger: Logger) {}

  on(type: string, listener: (event: never) => unknown): void {
    this.emitter ??= new EventEmitter();
    this.emitter.on(type, listener as (event: AgentEvent) => void);
  }

  off(type: string, listener: (event: never) => unknown): void {
    this.emitter?.off(type, listener as (event: AgentEvent) => void);
    if (this.emitter?.eventNames().length === 0) this.emitter = undefined;
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
