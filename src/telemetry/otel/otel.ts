/**
 * OpenTelemetry: spans and metrics of runs, model calls and tool calls, and a sink for the library's own figures.
 * Needs `@opentelemetry/api`, and an SDK to send anything anywhere.
 *
 * @packageDocumentation
 */
export { type OpenTelemetryOptions, openTelemetry } from './lifecycle.js';
export { type OtelMetricsOptions, otelMetrics } from './sink.js';
