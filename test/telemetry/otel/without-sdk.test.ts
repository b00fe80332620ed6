import { spawnSync } from 'node:child_process';
import { context, metrics, ROOT_CONTEXT, type TracerProvider, trace } from '@opentelemetry/api';
import { Agent, defineTool, type Logger } from 'keelson';
import { openTelemetry } from 'keelson/otel';
import { assertLifecycle, calls, says, scriptedModel } from 'keelson/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { root } from '../../support/docs/doc-files.js';
import { Telemetry } from '../../support/telemetry/telemetry.js';

afterEach(() => {
  for (const api of [trace, metrics, context]) api.disable();
});

const echo = defineTool({
  ...{ name: 'echo', description: 'Says it again.', input: z.object({}) },
  execute: () => 'Again.',
});

/** Runs an agent with one tool call and a given OpenTelemetry. Returns the answer and the log. */
async function runBeside(options: Parameters<typeof openTelemetry>[0]) {
  const warnings: string[] = [];
  const nothing = () => {};
  const logger: Logger = { debug: nothing, info: nothing, warn: (line) => warnings.push(line), error: nothing };
  const model = scriptedModel([calls('echo', {}), says('Done.')]);
  const agent = new Agent({ model, tools: [echo], logger, lifecycle: [openTelemetry(options)] });
  const { text, messages, decisions } = await agent.run('Hello');
  return { text, roles: messages.map(({ role }) => role), decisions, warnings };
}

const untouched = { text: 'Done.', roles: ['user', 'assistant', 'tool', 'assistant'], decisions: [] };

test('neither the import nor creating the lifecycle creates a tracer or a meter', () => {
  const code = `
    import { metrics, trace } from '@opentelemetry/api';
    const asked = [];
    trace.setGlobalTracerProvider({ getTracer: (name) => asked.push(name) });
    metrics.setGlobalMeterProvider({ getMeter: (name) => asked.push(name) });
    const { openTelemetry, otelMetrics } = await import('${root}src/telemetry/otel/otel.ts');
    openTelemetry();
    otelMetrics();
    console.log(JSON.stringify(asked));
  `;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', code];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });

  expect({ stdout, stderr }).toEqual({ stdout: '[]\n', stderr: '' });
});

test('a run works unchanged without an SDK', async () => {
  expect(await runBeside({})).toEqual({ ...untouched, warnings: [] });
});

describe('an error of OpenTelemetry is logged once and ignored, thrown by', () => {
  const boom = () => {
    throw new RangeError('boom');
  };
  const warnings = ['OpenTelemetry failed; the run continues without it. Further failures are not logged.'];
  const brokenSpan = new Proxy({}, { get: () => boom });
  const tracerOf = (startSpan: () => unknown) => ({ getTracer: () => ({ startSpan }) }) as unknown as TracerProvider;

  test.each<[string, Parameters<typeof openTelemetry>[0]]>([
    ['a provider', { tracerProvider: { getTracer: boom } }],
    ['a tracer', { tracerProvider: tracerOf(boom) }],
    ['a span', { tracerProvider: tracerOf(() => brokenSpan) }],
    ['a meter provider', { meterProvider: { getMeter: boom } }],
    ['a meter', { meterProvider: { getMeter: () => brokenSpan as never } }],
  ])('%s', async (_what, options) => {
    expect(await runBeside(options)).toEqual({ ...untouched, warnings });
  });

  test('a context manager, before or after the work', async () => {
    const manager = { active: boom, bind: boom, enable: boom, disable: () => brokenManager, with: boom };
    const brokenManager = manager as never;
    context.setGlobalContextManager(brokenManager);
    expect(await runBeside({})).toEqual({ ...untouched, warnings });

    context.disable();
    const late = (_context: unknown, work: () => unknown) => {
      work();
      boom();
    };
    context.setGlobalContextManager({ ...manager, active: () => ROOT_CONTEXT, with: late } as never);
    expect(await runBeside({})).toEqual({ ...untouched, warnings });
  });
});

describe('the contract of a lifecycle', () => {
  test('is kept, and the run is unchanged', async () => {
    const { tracerProvider, meterProvider } = new Telemetry();
    const make = () => openTelemetry({ tracerProvider, meterProvider, content: true });

    expect(await assertLifecycle(make, { passive: true })).toHaveLength(12);
  });

  test('is kept if OpenTelemetry throws', async () => {
    const tracerProvider = { getTracer: () => null as never };

    expect(await assertLifecycle(() => openTelemetry({ tracerProvider }), { passive: true })).toHaveLength(12);
  });
});

test.each<[unknown, string]>([
  [{ contents: true }, 'contents'],
  [{ content: 'yes' }, 'content'],
  [{ contentLimit: 0 }, 'contentLimit'],
  [{ contentLimit: Number.POSITIVE_INFINITY }, 'contentLimit'],
  [{ tracerProvider: {} }, 'tracerProvider.getTracer'],
  [{ meterProvider: null }, 'meterProvider'],
  [null, 'options'],
])('refuses the options %o', (options, option) => {
  expect(() => openTelemetry(options as never)).toThrow(
    expect.objectContaining({ code: 'ERR_OPTION_INVALID', option }),
  );
});
