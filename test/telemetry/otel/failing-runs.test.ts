import { readFileSync } from 'node:fs';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { openTelemetry } from 'keelson/otel';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Telemetry } from '../../support/telemetry/telemetry.js';
import { FAILING_RUNS } from '../../support/trace/failing-runs.js';

let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry().register();
});

afterEach(() => telemetry.close());

/** Returns what a span says of a failure: its error type, the exception, its own attributes, and its events. */
function said({ name, attributes, status, events }: ReadableSpan): string[] {
  const own = Object.entries(attributes).flatMap(([key, value]) =>
    /^keelson\.(failure|model|context)/.test(key) ? [`${key.split('.').slice(2)} ${value}`] : [],
  );
  const failed = status.code === 2 ? [`${name}: ${[attributes['error.type'], ...own].join(', ')}`] : [];
  const happened = events.map(({ name: event, attributes: of = {} }) => {
    // The state of a server depends on the time at which the run starts.
    const isShown = (key: string) => /^(keelson|exception)\./.test(key) && key !== 'keelson.server.state';
    const values = Object.entries(of).flatMap(([key, value = '']) => (isShown(key) && value !== '' ? [value] : []));
    return `${name}: ${event} ${values.join(', ')}`;
  });
  return [...failed, ...happened];
}

/** The sayings of all spans, by the title of the run. */
const SAYS: Readonly<Record<string, readonly string[]>> = {
  'a tool that throws two levels down': ['execute_tool pay: tool_error', 'execute_tool pay: exception RangeError'],
  'a call that a guard denies': [
    'execute_tool pay: tool_error',
    'execute_tool pay: keelson.decision block, guard, wrapToolCall, 1',
  ],
  'a limit of the outer agent that ends a nested run': [
    'chat scripted: ERR_RUN_REJECTED',
    'chat scripted: exception RejectedError',
    'invoke_agent clerk: ERR_RUN_REJECTED, by limits, point wrapModelCall',
    'invoke_agent clerk: exception RejectedError',
    'execute_tool clerk: tool_error',
    'invoke_agent boss: ERR_RUN_REJECTED, by limits, point beforeModel',
    'invoke_agent boss: keelson.decision reject, limits, beforeModel, 2',
    'invoke_agent boss: exception RejectedError',
  ],
  'a model that stays overloaded after all retries': [
    'chat scripted: 529, failure overloaded',
    'chat scripted: exception ModelError',
    'invoke_agent clerk: 529',
    'invoke_agent clerk: exception ModelError',
  ],
  'an MCP server that cannot be started': [
    'execute_tool _OTHER: tool_error',
    'invoke_agent clerk: keelson.server_error files',
  ],
  'a hook that exceeds its time limit': [
    'invoke_agent clerk: ERR_LIFECYCLE_FAILED, by slow, point beforeModel',
    'invoke_agent clerk: exception LifecycleError',
  ],
  'an answer that does not match the output schema': [
    'invoke_agent clerk: ERR_OUTPUT_INVALID',
    'invoke_agent clerk: exception OutputInvalidError',
  ],
  'a context that is too long because of one tool': [
    'chat scripted: 400, failure context-overflow, largest_source tool dump',
    'chat scripted: exception ModelError',
    'invoke_agent clerk: 400',
    'invoke_agent clerk: exception ModelError',
  ],
  'a cache that a timestamp breaks': [
    'chat scripted: keelson.decision modify, stamp, wrapModelCall, 1',
    'chat scripted: keelson.decision modify, stamp, wrapModelCall, 2',
    'invoke_agent clerk: keelson.cache_miss changed, message, stamp',
  ],
  'a session that another process deletes': [
    'invoke_agent clerk: ERR_SESSION_LOST',
    'invoke_agent clerk: exception SessionLostError',
  ],
};

test.each(FAILING_RUNS)('the spans of $title name the cause', async ({ title, run }) => {
  await run(openTelemetry(), [openTelemetry()]);

  const lines = telemetry.spans.flatMap(said);
  expect(lines).toEqual(SAYS[title]);
  expect(
    JSON.stringify(telemetry.spans.map(({ attributes, events, status }) => [attributes, events, status])),
  ).not.toMatch(/declined|Payments are off|busy|Forty/);
});

test('the scope has the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

  await FAILING_RUNS[1]?.run(openTelemetry());

  expect(telemetry.spans[0]?.instrumentationScope).toMatchObject({ name: 'keelson', version });
});
