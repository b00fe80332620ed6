import { describeError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import { isPromise } from '../internal/promise.js';
import {
  EXTENSION_CALLBACK_DURATION_MS,
  EXTENSION_CALLBACK_TOTAL,
  EXTENSION_REGISTRATION_TOTAL,
  EXTENSION_STATE_EVICTIONS,
  EXTENSION_STATE_OPERATIONS,
  EXTENSION_STATE_SIZE_BYTES,
} from '../telemetry/metric-names.js';
import type { MetricsSink } from '../telemetry/metrics-sink.js';

/** The callbacks of an extension, and how metrics name them. */
export const CALLBACK_TYPES = {
  onInputMessages: 'on_input_messages',
  onPlainText: 'on_plain_text',
  onTag: 'on_tag',
  onLlmOutput: 'on_llm_output',
} as const;

/** One of the four callbacks. */
export type CallbackName = keyof typeof CALLBACK_TYPES;

/** What became of one callback. */
export interface CallbackOutcome {
  readonly outcome: 'success' | 'error' | 'short_circuit';
  readonly durationMs: number;
}

/** The figures of a registry. Without a sink nothing is made; a sink that throws is logged and passed over. */
export class ExtensionMetrics {
  constructor(
    private readonly sink: MetricsSink | undefined,
    private readonly logger: () => Logger,
  ) {}

  registration(action: 'register' | 'unregister', extension_id: string): void {
    this.send((sink) => sink.counter(EXTENSION_REGISTRATION_TOTAL, 1, { action, extension_id }));
  }

  callback(name: CallbackName, extension_id: string, { outcome, durationMs }: CallbackOutcome): void {
    const callback_type = CALLBACK_TYPES[name];
    this.send((sink) => sink.histogram(EXTENSION_CALLBACK_DURATION_MS, durationMs, { callback_type, extension_id }));
    this.send((sink) => sink.counter(EXTENSION_CALLBACK_TOTAL, 1, { callback_type, extension_id, outcome }));
  }

  stateOperation(operation: 'get' | 'set' | 'clear', extension_id: string): void {
    this.send((sink) => sink.counter(EXTENSION_STATE_OPERATIONS, 1, { operation, extension_id }));
  }

  stateSize(bytes: number, extension_id: string): void {
    this.send((sink) => sink.histogram(EXTENSION_STATE_SIZE_BYTES, bytes, { extension_id }));
  }

  stateEviction(extension_id: string): void {
    this.send((sink) => sink.counter(EXTENSION_STATE_EVICTIONS, 1, { extension_id }));
  }

  private send(report: (sink: MetricsSink) => unknown): void {
    if (this.sink === undefined) return;
    try {
      const sent = report(this.sink);
      if (isPromise(sent)) sent.then(undefined, (error: unknown) => this.complain(error));
    } catch (error) {
      this.complain(error);
    }
  }

  private complain(error: unknown): void {
    this.logger().error(`The metrics sink failed: ${describeError(error)}`, error);
  }
}
