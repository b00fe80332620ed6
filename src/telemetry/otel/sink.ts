import type { Meter, MeterProvider } from '@opentelemetry/api';
import { withMethods } from '../../internal/options/rules.js';
import { type OptionTable, validateOptions } from '../../internal/options/validate.js';
import type { MetricsSink } from '../metrics-sink.js';
import { Instruments } from './instruments.js';

/** Where the figures go. Without either: to the global meter provider, as it is at each figure. */
export interface OtelMetricsOptions {
  readonly meter?: Meter | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

const rules = {
  meter: withMethods('createHistogram'),
  meterProvider: withMethods('getMeter'),
} satisfies OptionTable<OtelMetricsOptions>;

/**
 * Makes a sink that hands every figure to OpenTelemetry under its own name and labels. An instrument is made at its
 * first figure; its unit is `ms` for names that end in `_ms`, and `By` for those that end in `_bytes`.
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

/** Up to the 64 MiB that a session may keep: the default boundaries end at 10,000. */
const BYTES = Array.from({ length: 14 }, (_, exponent) => 4 ** exponent);

function unitOf(name: string): string | undefined {
  if (name.endsWith('_ms')) return 'ms';
  return name.endsWith('_bytes') ? 'By' : undefined;
}
