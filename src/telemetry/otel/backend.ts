import { type Attributes, type Tracer, type TracerProvider, trace } from '@opentelemetry/api';
import type { RunContext } from '../../lifecycle/run-context.js';
import { VERSION } from '../../version.js';
import type { HistogramSpec } from './conventions.js';
import { Instruments, type MeterSource, SCOPE } from './instruments.js';

/** The OpenTelemetry providers, and the settings for the recording of content. */
export interface BackendOptions extends MeterSource {
  readonly tracerProvider?: TracerProvider | undefined;
  readonly content: boolean;
  readonly contentLimit: number;
}

/** Creates spans and metrics in OpenTelemetry. Errors of OpenTelemetry are logged and never reach the caller. */
export class Backend {
  readonly content: boolean;
  readonly contentLimit: number;
  private readonly tracerProvider: TracerProvider | undefined;
  private readonly instruments: Instruments;
  private hasWarned = false;

  constructor({ tracerProvider, content, contentLimit, ...source }: BackendOptions) {
    this.content = content;
    this.contentLimit = contentLimit;
    this.tracerProvider = tracerProvider;
    this.instruments = new Instruments(source);
  }

  /**
   * Returns the tracer. Must be called for each span, because the global provider may have changed. The provider caches
   * the tracer.
   */
  tracer(): Tracer {
    return (this.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE, VERSION);
  }

  record(run: RunContext, spec: HistogramSpec, point: { value: number; attributes: Attributes }): void {
    this.attempt(run, () => this.instruments.histogram(spec).record(point.value, point.attributes));
  }

  /** Adds a number of tokens to the counter `name`. */
  count(run: RunContext, name: string, point: { value: number; attributes: Attributes }): void {
    this.attempt(run, () => this.instruments.counter(name, '{token}').add(point.value, point.attributes));
  }

  /** Returns the result of `work`, or undefined if it throws. Logs only the first error. */
  attempt<T>(run: RunContext, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!this.hasWarned)
        run.logger.warn('OpenTelemetry failed; the run continues without it. Further failures are not logged.', error);
      this.hasWarned = true;
      return undefined;
    }
  }
}
