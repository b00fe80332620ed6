import { context, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { expect } from 'vitest';

/** A real OpenTelemetry SDK that exports to memory. */
export class Telemetry {
  readonly exporter = new InMemorySpanExporter();
  readonly tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.exporter)] });
  private readonly metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  private readonly reader = new PeriodicExportingMetricReader({
    exporter: this.metricExporter,
    exportIntervalMillis: 3_600_000,
  });
  readonly meterProvider = new MeterProvider({ readers: [this.reader] });

  /** Registers both providers and a context manager globally. */
  register(): this {
    trace.setGlobalTracerProvider(this.tracerProvider);
    metrics.setGlobalMeterProvider(this.meterProvider);
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
    return this;
  }

  async close(): Promise<void> {
    trace.disable();
    metrics.disable();
    context.disable();
    await this.tracerProvider.shutdown();
    await this.meterProvider.shutdown();
  }

  /** Returns the finished spans in the order of their ends. */
  get spans(): ReadableSpan[] {
    return this.exporter.getFinishedSpans();
  }

  /** Returns the only finished span with this name. */
  span(name: string): ReadableSpan {
    const found = this.spans.filter((span) => span.name === name);
    expect(found.map((span) => span.name)).toEqual([name]);
    return found[0] as ReadableSpan;
  }

  /** Returns the finished spans as an indented tree, with siblings in the order of their starts. */
  tree(): string[] {
    const lines: string[] = [];
    const ids = new Set(this.spans.map((span) => span.spanContext().spanId));
    const parentOf = (span: ReadableSpan) => span.parentSpanContext?.spanId;
    const walk = (parent: string | undefined, indent: string) => {
      const children = this.spans.filter((span) => {
        const id = parentOf(span);
        return parent === undefined ? id === undefined || !ids.has(id) : id === parent;
      });
      for (const child of children.sort(byStart)) {
        lines.push(indent + child.name);
        walk(child.spanContext().spanId, `${indent}  `);
      }
    };
    walk(undefined, '');
    return lines;
  }

  /** Returns every exported data point: instrument, unit, boundaries, attributes, count and sum. */
  async points() {
    await this.reader.forceFlush();
    const scopes = this.metricExporter.getMetrics().at(-1)?.scopeMetrics ?? [];
    return scopes.flatMap(({ metrics: found }) =>
      found.flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => {
          const { count, sum, buckets } = value as Measured;
          return { name: descriptor.name, unit: descriptor.unit, attributes, value, count, sum, buckets };
        }),
      ),
    );
  }

  async pointsOf(name: string) {
    return (await this.points()).filter((point) => point.name === name);
  }
}

function byStart(a: ReadableSpan, b: ReadableSpan): number {
  return a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1];
}

/** Describes a span in one line. */
export function shown(span: ReadableSpan) {
  return { kind: SpanKind[span.kind], status: SpanStatusCode[span.status.code], attributes: span.attributes };
}

interface Measured {
  readonly count: number;
  readonly sum: number;
  readonly buckets: { readonly boundaries: readonly number[]; readonly counts: readonly number[] };
}
