import { type AgentLifecycle, HookAction } from 'keelson';
import { calls, fails } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { office, to } from '../../support/agent/handoff/office.js';
import { rejectionOf } from '../../support/agent/settle.js';

const boom = () => {
  throw new RangeError('boom');
};

/** Runs triage, which hands over to billing. Returns the error and the hooks. */
async function failing(triage: AgentLifecycle, billing: AgentLifecycle) {
  const made = office(
    { triage: [to('billing')], billing: [calls('echo', { text: 'a' }), 'Hello.'] },
    { triage: { lifecycle: [triage] }, billing: { lifecycle: [billing] } },
  );
  const error = (await rejectionOf(made.triage.run('Hi.'))) as Error & { code: string };
  const left = made.log.filter((line) => /afterAgent|onError/.test(line));
  return { ...made, error, code: error.code, left };
}

describe('each lifecycle that was entered is left once, if', () => {
  test('the first agent fails while it is left', async () => {
    const last: AgentLifecycle = { name: 'z', afterAgent: boom };

    const { code, left, log } = await failing(last, {});

    expect([code, left]).toEqual(['ERR_LIFECYCLE_FAILED', ['triage: afterAgent']]);
    expect(log).not.toContain('billing: beforeAgent');
  });

  test('the first agent fails before its lifecycles are left', async () => {
    const { left } = await failing({ priority: 90, afterAgent: boom }, {});

    expect(left).toEqual(['triage: onError']);
  });

  test('the other agent fails while it is entered', async () => {
    const { code, left } = await failing({}, { beforeAgent: boom });
    expect([code, left]).toEqual(['ERR_LIFECYCLE_FAILED', ['triage: afterAgent', 'billing: onError']]);

    const early = await failing({}, { priority: 90, beforeAgent: boom });
    expect([early.code, early.left]).toEqual(['ERR_LIFECYCLE_FAILED', ['triage: afterAgent']]);
  });

  test('the other agent rejects', async () => {
    const { code, left } = await failing({}, { beforeAgent: () => HookAction.reject('no') });

    expect([code, left]).toEqual(['ERR_RUN_REJECTED', ['triage: afterAgent', 'billing: onError']]);
  });

  test.each(['beforeModel', 'afterModel', 'afterAgent'] as const)('%s of the other agent fails', async (hook) => {
    const { code, left } = await failing({}, { priority: 90, [hook]: boom });

    expect([code, left]).toEqual(['ERR_LIFECYCLE_FAILED', ['triage: afterAgent', 'billing: onError']]);
  });

  test('the model of the other agent fails', async () => {
    const { triage, log } = office({ triage: [to('billing')], billing: [fails()] });

    const error = await rejectionOf(triage.run('Hi.'));

    expect(error).toMatchObject({ code: 'ERR_MODEL_FAILED' });
    expect((error as { history: unknown[] }).history).toHaveLength(3);
    expect(log.at(-1)).toBe('billing: onError');
    expect(triage.status().runs).toBe(0);
  });
});

test('the lifecycle of the other agent answers instead of its model', async () => {
  const { triage, log, models, billing } = office(
    { triage: [to('billing')], billing: [] },
    { billing: { lifecycle: [{ beforeAgent: (input) => HookAction.respond(`No answer to ${input}`) }] } },
  );

  const { text, messages } = await triage.run('Hi.');

  expect([text, messages.at(-1)]).toMatchObject(['No answer to Hi.', { agent: 'billing' }]);
  expect([log.at(-1), models.billing.requests.length]).toEqual(['billing: afterAgent', 0]);
  expect([triage.status().runs, billing.status().runs]).toEqual([0, 0]);
});

test('a loader of the other agent that fails ends the run, and the first agent is left', async () => {
  const { triage, log } = office(
    { triage: [to('billing')], billing: [] },
    { billing: { loaders: [{ name: 'l', load: boom }] } },
  );

  expect(await rejectionOf(triage.run('Hi.'))).toMatchObject({
    code: 'ERR_HANDOFF_UNAVAILABLE',
    cause: { code: 'ERR_LOADER_FAILED' },
    history: { length: 3 },
  });
  expect(log.at(-1)).toBe('triage: onError');
});

test('the loaders of the other agent load before its part', async () => {
  const order: string[] = [];
  const asked = () => {
    order.push('asked');
    return 'Hello.';
  };
  const { triage } = office(
    { triage: [to('billing')], billing: [asked] },
    { billing: { loaders: [{ name: 'l', load: async () => void order.push('loaded') }] } },
  );

  await triage.run('Hi.');

  expect(order).toEqual(['loaded', 'asked']);
});
