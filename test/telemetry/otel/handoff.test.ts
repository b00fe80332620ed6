import { HookAction } from 'keelson';
import { openTelemetry } from 'keelson/otel';
import { calls } from 'keelson/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { office, to } from '../../support/agent/handoff/office.js';
import { Telemetry } from '../../support/telemetry/telemetry.js';

let telemetry: Telemetry;

beforeEach(() => {
  telemetry = new Telemetry().register();
});

afterEach(() => telemetry.close());

test('a run that is handed over is one trace, with a span for the part of each agent', async () => {
  const shared = openTelemetry();
  const { triage } = office(
    { triage: [to('billing')], billing: [calls('echo', { text: 'x' }), to('triage')] },
    { triage: { lifecycle: [shared] }, billing: { lifecycle: [shared] } },
  );
  triage.use({ beforeAgent: (_, run) => (run.turn > 0 ? HookAction.respond('Goodbye.') : undefined) });

  await triage.run('Hi.');

  expect(telemetry.tree()).toEqual([
    ...['invoke_agent triage', '  chat model of triage', '  execute_tool to_billing'],
    ...['  invoke_agent billing', '    chat model of billing', '    execute_tool echo'],
    ...['    chat model of billing', '    execute_tool to_triage', '  invoke_agent triage'],
  ]);
});
