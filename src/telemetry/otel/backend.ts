import { type Attributes, type Tracer, type TracerProvider, trace } from '@opentelemetry/api';
import type { RunContext } from '../../lifecycle/run-context.js';
import type { HistogramSpec } from './conventions.js';
import { Instruments, type MeterSource, SCOPE } from './instruments.js';

/** Where spans and measurements go, and how much they may say. */
export interface BackendOptions extends MeterSource {
  readonly tracerProvider?: TracerProvider | undefined;
  readonly content: boolean;
  readonly contentLimit: number;
}

/** The way to OpenTelemetry. Nothing is made before it is used, and nothing that fails there comes through. */
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

  /** Asked for at each span: the provider keeps it, and the global one may have been set meanwhile. */
  tracer(): Tracer {
    return (this.tracerProvider ?? trace.getTracerProvider()).getTracer(SCOPE);
  }

  record(run: RunContext, spec: HistogramSpec, point: { value: number; attributes: Attributes }): void {
    this.attempt(run, () => this.instruments.histogram(spec).record(point.value, point.attributes));
  }

  /** What `work` gives, or nothing where it throws. Said once in the log, not at every span. */
  attempt<T>(run: RunContext, work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      if (!this.hasWarned) run.logger.warn('OpenTelemetry failed; the run goes on without it.', error);
      this.hasWarned = true;
      return undefined;
    }
  }
}
