import { Agent, type AgentLifecycle, handoff } from 'keelson';
import { durable, memoryStep } from 'keelson/durable';
import { approval } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { office, to } from '../../support/agent/handoff/office.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';

const description = 'Hands over.';
const refusal = (problem: string, agent = 'billing') =>
  `!The conversation cannot continue with agent "${agent}": ${problem}.`;

/** Triage tries to hand over, and then answers itself. */
const stays = (lifecycle: AgentLifecycle[] = []) =>
  office({ triage: [to('billing'), 'I stay.'], billing: [] }, { triage: { lifecycle } });

describe('hands nothing over:', () => {
  test('a call that a hook blocked', async () => {
    const { triage, log } = stays([{ wrapToolCall: () => ({ content: 'No.', isError: true }) }]);

    const { text, history } = await triage.run('Hi.');

    expect([text, resultsIn(history).to_billing]).toEqual(['I stay.', '!No.']);
    expect(log.filter((line) => line.startsWith('billing'))).toEqual([]);
  });

  test('a call whose result a hook replaced by an error', async () => {
    const after: AgentLifecycle = {
      wrapToolCall: async (call, next) => ({ ...(await next(call)), content: 'Too late.', isError: true }),
    };
    const { triage, log } = stays([after]);

    expect(await triage.run('Hi.')).toMatchObject({ text: 'I stay.' });
    expect(log).not.toContain('billing: beforeAgent');
  });

  test('a call that a hook gave another tool', async () => {
    const lifecycle: AgentLifecycle = { wrapToolCall: (call, next) => next({ ...call, name: 'to_billing' }) };
    const { triage } = office(
      { triage: [calls('echo', { text: 'a' }), 'I stay.'], billing: [] },
      { triage: { lifecycle: [lifecycle] } },
    );

    const { text, history } = await triage.run('Hi.');

    expect(text).toBe('I stay.');
    expect(resultsIn(history).call_1).toBe(refusal('a hook changed the name of the tool'));
  });

  test('a call for an agent that is closed', async () => {
    const { triage, billing } = stays();
    await billing.close();

    const { text, history } = await triage.run('Hi.');

    expect([text, resultsIn(history).to_billing]).toEqual(['I stay.', refusal('the agent is closed')]);
  });

  test('a call for the agent that has the conversation', async () => {
    const triage: Agent = new Agent({
      name: 'triage',
      model: scriptedModel([to('triage'), 'I stay.']),
      tools: [handoff(() => triage, { name: 'to_triage', description })],
    });

    const { text, history } = await triage.run('Hi.');

    const problem = refusal('the agent has the conversation already', 'triage');
    expect([text, resultsIn(history).to_triage]).toEqual(['I stay.', problem]);
  });

  test('a call for one of two agents with the same name', async () => {
    const other = new Agent({ name: 'triage', model: scriptedModel([]) });
    const triage = new Agent({
      name: 'triage',
      model: scriptedModel([to('other'), 'I stay.']),
      tools: [handoff(other, { name: 'to_other', description })],
    });

    const { history } = await triage.run('Hi.');

    expect(resultsIn(history).to_other).toBe(refusal('another agent of the conversation has the same name', 'triage'));
  });

  test('a call of a durable run, and a call for an agent with durable runs', async () => {
    const { billing } = office({ triage: [], billing: [] });
    const engine = durable({ step: memoryStep() });
    const tools = [handoff(billing, { name: 'to_billing', description })];
    const agent = new Agent(engine.options({ name: 'a', model: scriptedModel([to('billing'), 'I stay.']), tools }));

    const { text, history } = await agent.run('Hi.');
    expect([text, resultsIn(history).to_billing]).toEqual(['I stay.', refusal('a durable run cannot be handed over')]);

    const plain = new Agent({
      name: 'b',
      model: scriptedModel([to('a'), 'I stay.']),
      tools: [handoff(agent, { name: 'to_a', description })],
    });
    const second = await plain.run('Hi.');
    expect(resultsIn(second.history).to_a).toBe(refusal('the runs of the agent are durable', 'a'));
  });

  test('a call whose function returns no agent', async () => {
    const model = scriptedModel([to('billing'), 'I stay.']);
    const tools = [handoff(() => undefined as never, { name: 'to_billing', description })];

    const { history } = await new Agent({ model, tools }).run('Hi.');

    expect(resultsIn(history).to_billing).toBe(
      '!`agent` must be an `Agent`, or a function that returns one, got undefined',
    );
  });

  test('a call of a run that a tool ended in the same turn', async () => {
    const end = toolOf('end', (_, { run }) => run.end({ type: 'respond', text: 'Over.' }));
    const { billing } = office({ triage: [], billing: [] });
    const triage = new Agent({
      name: 'triage',
      model: scriptedModel([calls({ name: 'to_billing' }, { name: 'end' })]),
      tools: [end, handoff(billing, { name: 'to_billing', description })],
      parallelToolCalls: false,
    });

    expect(await triage.run('Hi.')).toMatchObject({ text: 'Over.', turns: 1 });
  });
});

describe('a handoff that needs approval', () => {
  const guarded = () =>
    office(
      { triage: [to('billing'), 'I stay.'], billing: ['Hello.'] },
      { triage: { lifecycle: [approval({ tools: ['to_billing'] })] } },
    );

  test('happens when it is approved', async () => {
    const { triage, log } = guarded();
    const waiting = await triage.run('Hi.');
    expect(waiting.pending).toMatchObject([{ id: 'to_billing', name: 'to_billing' }]);
    expect(log).not.toContain('billing: beforeAgent');

    const { text } = await triage.run('', { messages: waiting.history, resume: { to_billing: 'approve' } });

    expect(text).toBe('Hello.');
    expect(log.slice(4)).toEqual([
      ...['triage: beforeAgent', 'triage: to_billing', 'triage: afterAgent'],
      ...['billing: beforeAgent', 'billing: beforeModel', 'billing: afterAgent'],
    ]);
  });

  test('does not happen when it is denied', async () => {
    const { triage } = guarded();
    const { history: messages } = await triage.run('Hi.');

    expect(await triage.run('', { messages, resume: { to_billing: 'deny' } })).toMatchObject({ text: 'I stay.' });
  });
});

describe('handoff refuses', () => {
  const agent = new Agent({ model: scriptedModel([]) });

  test.each([
    ['an object that is not an agent', () => handoff({} as never, { name: 'a', description }), 'ERR_OPTION_INVALID'],
    ['a missing description', () => handoff(agent, { name: 'a' } as never), 'ERR_TOOL_INVALID'],
    ['an invalid name', () => handoff(agent, { name: 'a b', description }), 'ERR_TOOL_INVALID'],
    ['an unknown option', () => handoff(agent, { name: 'a', description, prompt: 'x' } as never), 'ERR_TOOL_INVALID'],
  ])('%s', async (_, make, code) => {
    expect(await rejectionOf(Promise.resolve().then(make))).toMatchObject({ code });
  });
});
