import assert from 'node:assert/strict';
import { context, metrics, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Agent } from 'keelson';
import { openTelemetry, otelMetrics } from 'keelson/otel';
import { scriptedModel } from 'keelson/testing';

const exporter = new InMemorySpanExporter();
const spanProcessors = [new SimpleSpanProcessor(exporter)];
const readers: [] = [];
const model = scriptedModel(() => 'To the left.', { id: 'pilot-1', provider: 'harbour' });

// #region set-up
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
metrics.setGlobalMeterProvider(new MeterProvider({ readers }));
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

const agent = new Agent({ name: 'pilot', model, lifecycle: [openTelemetry()] });
await agent.run('Where to?');
// #endregion

// #region innermost
const inner = { ...openTelemetry({ content: true }), priority: 0 };
// #endregion

// #region sink
const sink = otelMetrics();
sink.counter('cache_hits', 1, { store: 'memory' });
sink.histogram('lookup_duration_ms', 12, { store: 'memory' });
// #endregion

assert.deepEqual(
  exporter.getFinishedSpans().map(({ name }) => name),
  ['chat pilot-1', 'invoke_agent pilot'],
);
await new Agent({ model, lifecycle: [inner] }).run('And now?');
const messages = exporter.getFinishedSpans()[2]?.attributes['gen_ai.output.messages'];
assert.match(String(messages), /To the left\./);
for (const api of [trace, metrics, context]) api.disable();
