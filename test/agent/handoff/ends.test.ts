import type { Agent } from 'keelson';
import { calls, hangs } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { office, to } from '../../support/agent/handoff/office.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { gate, rejectionOf, until } from '../../support/agent/settle.js';
import { manualClock } from '../../support/lifecycle/manual-clock.js';

/** Triage has handed over to billing, whose model hangs. */
async function hanging(options: Parameters<Agent['run']>[1] = {}, of: Parameters<typeof office>[1] = {}) {
  const made = office({ triage: [to('billing')], billing: [hangs()] }, of);
  const error = rejectionOf(made.triage.run('Hi.', options));
  await until(() => made.models.billing.requests.length > 0);
  return { ...made, error };
}

describe('the part of the other agent ends with an abort', () => {
  test('of the run', async () => {
    const controller = new AbortController();
    const { error, log, triage, billing } = await hanging({ signal: controller.signal });
    controller.abort('stop');

    expect(await error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: 'stop', history: { length: 3 } });
    expect(log.at(-1)).toBe('billing: onError');
    expect([triage.status().runs, billing.status().runs]).toEqual([0, 0]);
  });

  test.each(['triage', 'billing'] as const)('when %s is closed', async (name) => {
    const made = await hanging();
    expect(made[name].status().runs).toBe(1);

    await made[name].close();

    expect(await made.error).toMatchObject({ code: 'ERR_RUN_ABORTED', cause: { code: 'ERR_AGENT_CLOSED' } });
    expect(made.log.at(-1)).toBe('billing: onError');
  });

  test('at the time limit of the run', async () => {
    const clock = manualClock();
    const { error } = await hanging({}, { triage: { clock, timeouts: { runMs: 100 } } });
    await clock.advance(100);

    expect(await error).toMatchObject({ code: 'ERR_RUN_TIMEOUT' });
  });

  test('when its reader leaves the stream', async () => {
    const { triage, log } = office({ triage: [to('billing')], billing: [hangs()] });
    const stream = triage.stream('Hi.');
    for await (const { type } of stream) if (type === 'handoff') break;

    expect(await rejectionOf(stream.result)).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(log.filter((line) => /afterAgent|onError/.test(line))[0]).toBe('triage: afterAgent');
  });
});

test('closing an agent whose part is over does not end the run', async () => {
  const { pass, open } = gate();
  const wait = toolOf('wait', pass);
  const { triage, billing, models } = office(
    { triage: [to('billing'), calls('wait'), 'Bye.'], billing: [to('triage')] },
    {},
  );
  triage.use({ tools: [wait] });
  const run = triage.run('Hi.');
  await until(() => models.triage.requests.length === 2);

  await billing.close();
  open();

  expect(await run).toMatchObject({ text: 'Bye.' });
});

test('an agent that drains takes its run back from the other agent', async () => {
  const waiting = gate();
  const { triage } = office(
    { triage: [to('billing'), 'Bye.'], billing: [calls('wait'), to('triage')] },
    { billing: { lifecycle: [{ tools: [toolOf('wait', waiting.pass)] }] } },
  );
  const run = triage.run('Hi.');
  await until(() => waiting.arrived > 0);

  const closing = triage.close({ drainMs: 600_000 });
  waiting.open();

  expect(await run).toMatchObject({ text: 'Bye.' });
  await closing;
});

test('an abort while the other agent loads leaves the first agent', async () => {
  const loading = gate();
  const controller = new AbortController();
  const { triage, billing, log } = office(
    { triage: [to('billing')], billing: [] },
    { billing: { loaders: [{ name: 'l', load: loading.pass }] } },
  );
  const error = rejectionOf(triage.run('Hi.', { signal: controller.signal }));
  await until(() => loading.arrived > 0);
  controller.abort('stop');

  expect(await error).toMatchObject({ code: 'ERR_RUN_ABORTED' });
  expect(log.at(-1)).toBe('triage: onError');
  loading.open();
  expect([triage.status().runs, billing.status().runs]).toEqual([0, 0]);
});
