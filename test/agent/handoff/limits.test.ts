import { Agent, type AgentLifecycle } from 'keelson';
import { limits } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { office, to } from '../../support/agent/handoff/office.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';

const echo = (id: string) => calls({ name: 'echo', id, input: { text: id } });

/** Triage hands over to billing, which calls a tool twice, and hands back to triage. */
const round = (triage: AgentLifecycle[], billing: AgentLifecycle[] = []) =>
  office(
    { triage: [to('billing'), 'Bye.'], billing: [echo('a'), echo('b'), to('triage')] },
    { triage: { lifecycle: triage }, billing: { lifecycle: billing } },
  );

describe('the limits of an agent hold after it has handed the run over', () => {
  test.each([
    ['model calls', { modelCalls: 3 }, 'The run of agent "triage" reached its limit of 3 model calls (3 used).'],
    ['tokens', { tokens: 45 }, 'The run of agent "triage" reached its limit of 45 tokens (45 used).'],
  ])('for %s', async (_, options, reason) => {
    const { triage, models } = round([limits(options)]);

    expect(await rejectionOf(triage.run('Hi.'))).toMatchObject({ code: 'ERR_RUN_REJECTED', by: 'limits', reason });
    expect(models.billing.requests).toHaveLength(2);
  });

  test('for money, with the prices of each model', async () => {
    const price = { input: 1, output: 1 };
    const prices = { 'model of triage': price, 'model of billing': price };
    const { triage } = round([limits({ usd: 0.00004, prices })]);
    expect(await rejectionOf(triage.run('Hi.'))).toMatchObject({ code: 'ERR_RUN_REJECTED' });

    const unknown = round([limits({ usd: 1, prices: { 'model of triage': price } })]);
    const error = await rejectionOf(unknown.triage.run('Hi.'));
    expect(error).toMatchObject({ code: 'ERR_RUN_REJECTED' });
    expect(String(error)).toContain('model of billing');
  });

  test('for tool calls', async () => {
    const { triage } = round([limits({ toolCalls: 2 })]);

    const error = (await rejectionOf(triage.run('Hi.'))) as { history: [] };

    expect(resultsIn(error.history)).toEqual({
      to_billing: 'The conversation continues with "billing".',
      a: 'a',
      b: '!The call was not run: The run of agent "triage" reached its limit of 2 tool calls (3 used).',
    });
  });

  test('and count once if both agents have the same lifecycle', async () => {
    const shared = limits({ modelCalls: 5, toolCalls: 4 });
    const copy: AgentLifecycle = { ...limits({ modelCalls: 5, toolCalls: 4 }), name: 'copy' };

    for (const lifecycle of [shared, copy]) {
      const { triage } = round([lifecycle], [lifecycle]);
      expect(await triage.run('Hi.')).toMatchObject({ text: 'Bye.', turns: 5 });
    }
    const less = limits({ modelCalls: 4 });
    expect(await rejectionOf(round([less], [less]).triage.run('Hi.'))).toMatchObject({ code: 'ERR_RUN_REJECTED' });
  });

  test('of the other agent hold for the rest of the run, too', async () => {
    const { triage } = round([], [limits({ modelCalls: 3 })]);

    expect(await rejectionOf(triage.run('Hi.'))).toMatchObject({
      reason: 'The run of agent "billing" reached its limit of 3 model calls (3 used).',
    });
  });

  test('for the runs inside of a call of the other agent', async () => {
    const inner = new Agent({ name: 'inner', model: scriptedModel(['x', 'y', 'z']) });
    const ask = (id: string) => calls({ name: 'inner', id, input: { prompt: 'q' } });
    const { triage } = office(
      { triage: [to('billing')], billing: [ask('a'), ask('b'), 'Done.'] },
      {
        triage: { lifecycle: [limits({ modelCalls: 3 })] },
        billing: { tools: [inner.asTool({ description: 'Asks.' })] },
      },
    );

    expect(await rejectionOf(triage.run('Hi.'))).toMatchObject({
      reason: 'The run of agent "triage" reached its limit of 3 model calls (3 used).',
    });
  });

  test('and so do the limits of the run around it', async () => {
    const { triage } = round([]);
    const boss = new Agent({
      name: 'boss',
      model: scriptedModel([calls('triage', { prompt: 'q' }), 'Done.']),
      tools: [triage.asTool({ description: 'Helps.' })],
      lifecycle: [limits({ modelCalls: 3 })],
    });

    const error = (await rejectionOf(boss.run('Hi.'))) as { history: [] };

    expect(resultsIn(error.history).call_1).toContain('The run of agent "boss" reached its limit of 3 model calls');
  });

  test('as `maxTurns.total` does', async () => {
    const inner = new Agent({ name: 'inner', model: scriptedModel(['x']) });
    const { triage } = office(
      { triage: [to('billing')], billing: [calls('inner', { prompt: 'q' }), 'Done.'] },
      { billing: { tools: [inner.asTool({ description: 'Asks.' })] } },
    );

    expect(await rejectionOf(triage.run('Hi.', { maxTurns: { total: 3 } }))).toMatchObject({
      code: 'ERR_TURN_LIMIT',
      maxTurns: 3,
    });
  });
});
