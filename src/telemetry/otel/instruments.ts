import { type Counter, type Histogram, type Meter, type MeterProvider, metrics } from '@opentelemetry/api';
import type { HistogramSpec } from './conventions.js';

/** The name of the tracer and the meter: the instrumentation scope. */
export const SCOPE = 'keelson';

/** Where measurements go. Without either, to the global provider. */
export interface MeterSource {
  readonly meter?: Meter | undefined;
  readonly meterProvider?: MeterProvider | undefined;
}

/**
 * Instruments by name, each made when it is first used. An instrument belongs to its provider for ever, also to the one
 * that drops everything: where the global provider has changed since, they are made anew.
 */
export class Instruments {
  private readonly source: MeterSource;
  private owner: unknown = undefined;
  private readonly made = new Map<string, Counter | Histogram>();

  constructor(source: MeterSource) {
    this.source = source;
  }

  counter(name: string, unit?: string): Counter {
    const options = unit === undefined ? {} : { unit };
    return this.find(`counter ${name}`, (meter) => meter.createCounter(name, options)) as Counter;
  }

  histogram({ name, unit, description, boundaries }: Pick<HistogramSpec, 'name'> & Partial<HistogramSpec>): Histogram {
    return this.find(`histogram ${name}`, (meter) =>
      meter.createHistogram(name, {
        ...(unit !== undefined && { unit }),
        ...(description !== undefined && { description }),
        ...(boundaries !== undefined && { advice: { explicitBucketBoundaries: [...boundaries] } }),
      }),
    ) as Histogram;
  }

  /** Forgets the instruments of another provider. A meter is made only for a new instrument. */
  private find(key: string, make: (meter: Meter) => Counter | Histogram): Counter | Histogram {
    const { meter, meterProvider = metrics.getMeterProvider() } = this.source;
    const owner = meter ?? meterProvider;
    if (owner !== this.owner) this.made.clear();
    this.owner = owner;
    const instrument = this.made.get(key) ?? make(meter ?? meterProvider.getMeter(SCOPE));
    this.made.set(key, instrument);
    return instrument;
  }
}
