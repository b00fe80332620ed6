import { describeError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import { isPromise } from '../internal/promise.js';
import type { MetricLabels, MetricsSink } from '../telemetry/metrics-sink.js';

/** The label `callback_type` in metrics, by callback name. */
export const CALLBACK_TYPES = {
  onInputMessages: 'on_input_messages',
  onPlainText: 'on_plain_text',
  onTag: 'on_tag',
  onLlmOutput: 'on_llm_output',
} as const;

/** The name of a callback of an extension. */
export type CallbackName = keyof typeof CALLBACK_TYPES;

/** Sends the metrics of a registry to its sink, if there is one. A failure of the sink is logged and ignored. */
export class ExtensionMetrics {
  constructor(
    private readonly sink: MetricsSink | undefined,
    private readonly logger: () => Logger,
  ) {}

  count(name: string, labels: MetricLabels): void {
    this.send((sink) => sink.counter(name, 1, labels));
  }

  measure(name: string, value: number, labels: MetricLabels): void {
    this.send((sink) => sink.histogram(name, value, labels));
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
