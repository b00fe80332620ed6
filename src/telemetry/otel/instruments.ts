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
  private readonly counters = new Map<string, Counter>();
  private readonly histograms = new Map<string, Histogram>();

  constructor(source: MeterSource) {
    this.source = source;
  }

  counter(name: string, unit?: string): Counter {
    const meter = this.meter();
    const known = this.counters.get(name);
    if (known !== undefined) return known;
    const counter = meter().createCounter(name, unit === undefined ? {} : { unit });
    this.counters.set(name, counter);
    return counter;
  }

  histogram({ name, unit, description, boundaries }: Pick<HistogramSpec, 'name'> & Partial<HistogramSpec>): Histogram {
    const meter = this.meter();
    const known = this.histograms.get(name);
    if (known !== undefined) return known;
    const histogram = meter().createHistogram(name, {
      ...(unit !== undefined && { unit }),
      ...(description !== undefined && { description }),
      ...(boundaries !== undefined && { advice: { explicitBucketBoundaries: [...boundaries] } }),
    });
    this.histograms.set(name, histogram);
    return histogram;
  }

  /** The meter as it is now, made only for whoever needs it. Forgets the instruments of another provider. */
  private meter(): () => Meter {
    const { meter, meterProvider } = this.source;
    const provider = meterProvider ?? metrics.getMeterProvider();
    const owner = meter ?? provider;
    if (owner !== this.owner) {
      this.owner = owner;
      this.counters.clear();
      this.histograms.clear();
    }
    return () => meter ?? provider.getMeter(SCOPE);
  }
}
