import type { Meter, MeterProvider } from '@opentelemetry/api';
import { withMethods } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { MetricsSink } from '../metrics.js';
import { Instruments } from './instruments.js';

/**
 * Options of {@link otelMetrics}: the meter, or the provider that creates it. Default: the global meter provider,
 * looked up at each metric.
 */
export interface OtelMetricsOptions {
  readonly meter?: Meter | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

const rules = {
  meter: withMethods('createHistogram'),
  meterProvider: withMethods('getMeter'),
} satisfies OptionTable<OtelMetricsOptions>;

/**
 * Creates a MetricsSink that passes each metric to OpenTelemetry with its name and labels.
 *
 * The unit is `ms` for names that end in `_ms`, and `By` (bytes) for names that end in `_bytes`.
 *
 * @example
 * const sink: MetricsSink = otelMetrics();
 */
export function otelMetrics(options: OtelMetricsOptions = {}): MetricsSink {
  validateOptions(options, rules);
  const instruments = new Instruments(options);
  return {
    counter: (name, value, labels) => instruments.counter(name, unitOf(name)).add(value, labels),
    histogram: (name, value, labels) => {
      const unit = unitOf(name);
      const spec = unit === undefined ? { name } : { name, unit };
      instruments.histogram(unit === 'By' ? { ...spec, boundaries: BYTES } : spec).record(value, labels);
    },
  };
}

/**
 * Bucket boundaries in bytes, up to 64 MiB, the maximum size of a session's state. The default boundaries of
 * OpenTelemetry end at 10,000.
 */
const BYTES = Array.from({ length: 14 }, (_, exponent) => 4 ** exponent);

function unitOf(name: string): string | undefined {
  if (name.endsWith('_ms')) return 'ms';
  return name.endsWith('_bytes') ? 'By' : undefined;
}
