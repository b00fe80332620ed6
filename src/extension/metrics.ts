import { describeError } from '../errors.js';
import type { Logger } from '../internal/logger.js';
import { isPromise } from '../internal/promise.js';
import {
  EXTENSION_CALLBACK_DURATION_MS,
  EXTENSION_CALLBACK_TOTAL,
  type MetricLabels,
  type MetricsSink,
} from '../telemetry/metrics.js';

const CALLBACK_TYPES = {
  onInputMessages: 'on_input_messages',
  onPlainText: 'on_plain_text',
  onTag: 'on_tag',
  onLlmOutput: 'on_llm_output',
  condition: 'condition',
} as const;

/** The name of a callback of an extension, or `condition` for the condition of an addition. */
export type CallbackName = keyof typeof CALLBACK_TYPES;

interface CalledMetric {
  readonly name: CallbackName;
  readonly id: string;
  readonly outcome: string;
  readonly durationMs: number;
}

/** Sends the metrics of a registry to its sink, if there is one. A failure of the sink is logged and ignored. */
export class ExtensionMetrics {
  constructor(
    private readonly sink: MetricsSink | undefined,
    private readonly logger: () => Logger,
  ) {}

  called({ name, id, outcome, durationMs }: CalledMetric): void {
    const labels = { callback_type: CALLBACK_TYPES[name], extension_id: id };
    this.measure(EXTENSION_CALLBACK_DURATION_MS, durationMs, labels);
    this.count(EXTENSION_CALLBACK_TOTAL, { ...labels, outcome });
  }

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
