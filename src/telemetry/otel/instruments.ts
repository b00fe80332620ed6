import {
  type Counter,
  type Histogram,
  type Meter,
  type MeterProvider,
  type MetricOptions,
  metrics,
} from '@opentelemetry/api';
import { VERSION } from '../../version.js';
import type { HistogramSpec } from './conventions.js';

/** The name of the tracer and of the meter. */
export const SCOPE = 'keelson';

/** The meter, or the provider that creates it. Default: the global provider. */
export interface MeterSource {
  readonly meter?: Meter | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

/**
 * Creates counters and histograms on first use and keeps them by name. They stay bound to the provider that created
 * them. So all are created again if the global provider changes, for example when an SDK starts.
 */
export class Instruments {
  private readonly source: MeterSource;
  private owner: unknown = undefined;
  private readonly instruments = new Map<string, Counter | Histogram>();

  constructor(source: MeterSource) {
    this.source = source;
  }

  counter(name: string, unit?: string): Counter {
    const options = unit === undefined ? {} : { unit };
    return this.find(`counter ${name}`, (meter) => meter.createCounter(name, options)) as Counter;
  }

  histogram({ name, unit, description, boundaries }: Pick<HistogramSpec, 'name'> & Partial<HistogramSpec>): Histogram {
    const options: MetricOptions = {};
    if (unit !== undefined) options.unit = unit;
    if (description !== undefined) options.description = description;
    if (boundaries !== undefined) options.advice = { explicitBucketBoundaries: [...boundaries] };
    return this.find(`histogram ${name}`, (meter) => meter.createHistogram(name, options)) as Histogram;
  }

  /**
   * Returns the counter or histogram for a key. If the provider has changed, forgets those of the previous provider.
   */
  private find(key: string, make: (meter: Meter) => Counter | Histogram): Counter | Histogram {
    const { meter, meterProvider = metrics.getMeterProvider() } = this.source;
    const owner = meter ?? meterProvider;
    if (owner !== this.owner) this.instruments.clear();
    this.owner = owner;
    const instrument = this.instruments.get(key) ?? make(meter ?? meterProvider.getMeter(SCOPE, VERSION));
    this.instruments.set(key, instrument);
    return instrument;
  }
}
