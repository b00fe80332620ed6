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

/** The name of the tracer and the meter, which is the instrumentation scope. */
export const SCOPE = 'keelson';

/** The meter or its provider. Default: the global provider. */
export interface MeterSource {
  readonly meter?: Meter | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

/**
 * Instruments by name, created on first use. An instrument stays bound to its provider, even to the no-op provider. So
 * all instruments are created again after the global provider has changed.
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

  /** Returns the instrument for a key. Drops the instruments of a previous provider. */
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
