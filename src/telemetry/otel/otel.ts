/**
 * OpenTelemetry spans and metrics for runs, model calls and tool calls, and a sink that passes the library's own
 * metrics to OpenTelemetry. Requires `@opentelemetry/api`, and an OpenTelemetry SDK to export the data.
 */
export { type OpenTelemetryOptions, openTelemetry } from './lifecycle.js';
export { type OtelMetricsOptions, otelMetrics } from './sink.js';
