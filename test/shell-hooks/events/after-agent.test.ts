import { Agent, type AgentLifecycle, HookAction, handoff } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, recorded, records, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const hooks = () => hooksIn(lab, { hooks: [records('after_agent')] });
const responses = () => recorded(lab).map(({ data }) => (data as { response: string }).response);

const suspendsAnswer: AgentLifecycle = { afterModel: (_, run) => HookAction.suspend(`May ${run.agent} say this?`) };

describe('after_agent runs', () => {
  test.each([
    ['a call', approval({ tools: ['pay'] }), [calls('pay', {}), says('Paid.')]],
    ['the answer', suspendsAnswer, [says('Paid.')]],
  ])('once, with the final answer, if %s waits for a person', async (_what, lifecycle, script) => {
    const { tool } = countingTool('pay');
    const { agent } = agentWith(lab, hooks(), { script, tools: [tool], lifecycle: [lifecycle] });
    const { status, pending, history } = await agent.run('go');
    expect([status, responses()]).toEqual(['suspended', []]);

    const decisions = Object.fromEntries(pending.map(({ id }) => [id, 'approve' as const]));
    await agent.run('', { messages: history, resume: decisions });
    expect(responses()).toEqual(['Paid.']);
  });

  test('not for the agent that hands over', async () => {
    const billing = new Agent({ name: 'billing', model: scriptedModel([says('Paid.')]) });
    const to = handoff(billing, { name: 'to_billing', description: 'Hands over.' });
    const { agent } = agentWith(lab, hooks(), { script: [calls('to_billing', {})], tools: [to] });

    expect((await agent.run('go')).text).toBe('Paid.');
    expect(responses()).toEqual([]);
  });

  test('for an answer that a lifecycle gives in place of the model', async () => {
    const lifecycle = [{ beforeModel: () => HookAction.respond('Closed today.') }];
    await agentWith(lab, hooks(), { script: [], lifecycle }).agent.run('go');

    expect(responses()).toEqual(['Closed today.']);
  });
});
