import { Agent, type AgentEvent, formatRun, handoff, type RunContext } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { noting, office, to } from '../../support/agent/handoff/office.js';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { resultsIn, transcript } from '../../support/agent/transcript.js';

const hello = calls('echo', { text: 'hello' });

describe('a handoff', () => {
  test('lets the other agent answer in the same run', async () => {
    const { triage, models } = office({ triage: [to('billing')], billing: ['You owe 40 €.'] });

    const result = await triage.run('What do I owe?');

    expect(result).toMatchObject({ status: 'completed', text: 'You owe 40 €.', turns: 2 });
    expect(result.usage.totalTokens).toBe(30);
    expect(transcript(result.messages)).toEqual([
      'user: What do I owe?',
      'assistant: call to_billing to_billing',
      'tool: to_billing=The conversation continues with "billing".',
      'assistant: You owe 40 €.',
    ]);
    expect(result.messages.map((message) => message.role === 'assistant' && message.agent)).toEqual([
      ...[false, undefined, false, 'billing'],
    ]);
    const [request] = models.billing.requests;
    expect(request?.messages[0]).toEqual({ role: 'system', content: 'You are billing.' });
    expect(request?.messages.slice(1)).toEqual(result.messages.slice(0, 3));
    expect(request?.tools.map(({ name }) => name)).toEqual(['echo', 'to_triage']);
  });

  test('calls the hooks of the agent that has its part', async () => {
    const { triage, log } = office({ triage: [to('billing'), 'Anything else?'], billing: [hello, to('triage')] });

    const { text } = await triage.run('Hi.');

    expect(text).toBe('Anything else?');
    expect(log).toEqual([
      ...['triage: beforeAgent', 'triage: beforeModel', 'triage: to_billing', 'triage: afterAgent'],
      ...['billing: beforeAgent', 'billing: beforeModel', 'billing: echo'],
      ...['billing: beforeModel', 'billing: to_triage', 'billing: afterAgent'],
      ...['triage: beforeAgent', 'triage: beforeModel', 'triage: afterAgent'],
    ]);
  });

  test('gives hooks the run of the agent that has its part', async () => {
    const seen: unknown[] = [];
    const look = (_: unknown, run: RunContext) => {
      const { agent, model, instructions, tools, id } = run;
      seen.push([agent, model.id, instructions, tools.map(({ name }) => name), id]);
    };
    const { triage } = office(
      { triage: [to('billing'), 'Bye.'], billing: [to('triage')] },
      {
        billing: { lifecycle: [{ beforeAgent: look, beforeModel: look }] },
        triage: { lifecycle: [{ afterAgent: look }] },
      },
    );

    await triage.run('Hi.');

    const ids = new Set(seen.map((one) => (one as unknown[]).pop()));
    expect(ids.size).toBe(1);
    const billing = ['billing', 'model of billing', 'You are billing.', ['echo', 'to_triage']];
    const last = ['triage', 'model of triage', 'You are triage.', ['echo', 'to_billing']];
    expect(seen).toEqual([last, billing, billing, last]);
  });

  test('takes arguments, which the other agent reads in the call', async () => {
    const billing = new Agent({ name: 'billing', model: scriptedModel(['Paid.']) });
    const tool = handoff(billing, {
      name: 'to_billing',
      description: 'Hands over.',
      input: z.object({ invoice: z.string() }),
    });
    const model = scriptedModel([calls('to_billing', {}), calls('to_billing', { invoice: '7' })]);
    const triage = new Agent({ name: 'triage', model, tools: [tool] });

    const { history, text } = await triage.run('Pay.');

    expect(text).toBe('Paid.');
    expect(resultsIn(history).call_1).toContain('are not valid');
    expect(history[3]).toMatchObject({ content: [{ name: 'to_billing', input: { invoice: '7' } }] });
  });

  test('waits for the other calls of the turn, which belong to the agent that made them', async () => {
    const { triage, log } = office({
      triage: [calls({ name: 'to_billing' }, { name: 'echo', input: { text: 'late' } })],
      billing: ['Hello.'],
    });

    const { history } = await triage.run('Hi.');

    expect(resultsIn(history)).toEqual({ call_1: 'The conversation continues with "billing".', call_2: 'late' });
    expect(log.filter((line) => line.endsWith('echo'))).toEqual(['triage: echo']);
  });

  test('happens once in a turn', async () => {
    const { triage, billing } = office({ triage: [], billing: ['Hello.'] });
    const legal = new Agent({ name: 'legal', model: scriptedModel([]) });
    const options = { description: 'Hands over.' };
    const tools = [
      handoff(billing, { name: 'to_billing', ...options }),
      handoff(legal, { name: 'to_legal', ...options }),
    ];
    const desk = new Agent({
      name: 'desk',
      model: scriptedModel([calls({ name: 'to_billing' }, { name: 'to_legal' })]),
      tools,
    });

    const { text, history } = await desk.run('Hi.');

    expect([triage.name, text]).toEqual(['triage', 'Hello.']);
    expect(resultsIn(history).call_2).toBe(
      '!The conversation cannot continue with agent "legal": another call of this turn has handed the conversation over.',
    );
  });

  test('keeps the options and the limits of the run', async () => {
    const output = z.object({ owed: z.number() });
    const { triage, models } = office({ triage: [to('billing')], billing: ['{"owed":40}'] });

    const result = await triage.run('What?', { output, settings: { temperature: 0 }, context: 'c' as never });

    expect(result).toMatchObject({ output: { owed: 40 } });
    expect(models.billing.requests[0]).toMatchObject({ settings: { temperature: 0 } });

    const loop = office({ triage: [to('billing', 'a'), to('billing', 'b')], billing: [to('triage', 'c')] });
    expect(await rejectionOf(loop.triage.run('Hi.', { maxTurns: 3 }))).toMatchObject({ code: 'ERR_TURN_LIMIT' });
  });

  test('is shown by formatRun', async () => {
    const { triage } = office({ triage: [to('billing'), 'Bye.'], billing: [to('triage')] });

    expect(formatRun(await triage.run('Hi.'))).toBe(
      [
        'completed: 3 turns, 2 tool calls, 30 + 15 tokens',
        '├─ turn 1  to_billing {} ✓',
        '├─ turn 2  billing: to_triage {} ✓',
        '└─ turn 3  "Bye."',
      ].join('\n'),
    );
  });
});

describe('the events of a run that is handed over', () => {
  const read = async (agent: Agent) => {
    const events: AgentEvent[] = [];
    for await (const event of agent.stream('Hi.')) events.push(event);
    return events;
  };

  test('are one stream, with an event for the handover', async () => {
    const { triage } = office({ triage: [to('billing')], billing: [says('Hello.')] });

    const events = await read(triage);

    expect(new Set(events.map(({ runId }) => runId)).size).toBe(1);
    const types = events.map(({ type }) => type).filter((type) => !type.endsWith('delta'));
    expect(types).toEqual([
      ...['run-start', 'turn-start', 'model-start', 'model-end', 'tool-start', 'tool-end', 'turn-end'],
      ...['handoff', 'turn-start', 'model-start', 'model-end', 'turn-end', 'run-end'],
    ]);
    expect(events.find(({ type }) => type === 'handoff')).toMatchObject({ turn: 1, from: 'triage', to: 'billing' });
    expect(events.flatMap((event) => (event.type === 'model-start' ? [event.model] : []))).toEqual([
      ...['model of triage', 'model of billing'],
    ]);
  });

  test('reach the listeners of the first agent during the whole run, and of another agent during its part', async () => {
    const { triage, billing } = office({ triage: [to('billing'), 'Bye.'], billing: [to('triage')] });
    const heard: Record<string, string[]> = { triage: [], billing: [] };
    for (const agent of [triage, billing])
      for (const type of ['handoff', 'turn-start', 'run-end'] as const)
        agent.on(type, () => void heard[agent.name]?.push(type));

    await triage.run('Hi.');

    expect(heard).toEqual({
      triage: ['turn-start', 'handoff', 'turn-start', 'handoff', 'turn-start', 'run-end'],
      billing: ['handoff', 'turn-start'],
    });
  });
});

describe('a run inside of a tool call', () => {
  test('hands over, and the call gets the answer of the last agent', async () => {
    const { triage } = office({ triage: [to('billing')], billing: ['You owe 40 €.'] });
    const log: string[] = [];
    const boss = new Agent({
      name: 'boss',
      model: scriptedModel([calls('triage', { prompt: 'What?' }), 'Done.']),
      tools: [triage.asTool({ description: 'Helps.' })],
      lifecycle: [noting('boss', log)],
    });

    const { history, nested, usage } = await boss.run('Ask.');

    expect(resultsIn(history)).toEqual({ call_1: 'You owe 40 €.' });
    expect(nested).toMatchObject([{ agent: 'triage', status: 'completed', usage: { totalTokens: 30 } }]);
    expect(usage.totalTokens).toBe(60);
    expect(log).toHaveLength(5);
  });

  test('started by the other agent is inside of the run', async () => {
    const paths: unknown[] = [];
    const inner = new Agent({ model: scriptedModel(['Inner.']) });
    const ask = toolOf('ask', async (_, { run: parent }) => (await inner.run('q', { parent })).text);
    const { triage } = office(
      { triage: [to('billing')], billing: [calls('ask'), 'Done.'] },
      { billing: { tools: [ask] } },
    );

    for await (const { type, path } of triage.stream('Hi.', { nested: true }))
      if (type === 'run-start') paths.push(path);

    expect(paths).toEqual([undefined, ['call_1']]);
  });

  test('takes new arguments of a call of the other agent', async () => {
    const lifecycle = [approval({ tools: ['pay'] }), { tools: [{ ...echo, name: 'pay' }] }];
    const script = { triage: [to('billing')], billing: [calls('pay', { text: 'x' }), 'Done.'] };
    const { triage } = office(script, { billing: { lifecycle } });
    const model = scriptedModel([calls({ name: 'triage', id: 't', input: { prompt: 'q' } }), 'All done.']);
    const boss = new Agent({ name: 'boss', model, tools: [triage.asTool({ description: 'Helps.' })] });
    const { history: messages, pending } = await boss.run('Ask.');
    expect(pending).toMatchObject([{ id: 't/call_1', name: 'pay' }]);

    const wrong = boss.run('', { messages, resume: { 't/call_1': { approve: { text: 1 } } } });
    expect(await rejectionOf(wrong)).toMatchObject({ code: 'ERR_RESUME_INVALID' });
    const { nested, text } = await boss.run('', { messages, resume: { 't/call_1': { approve: { text: 'ho' } } } });

    expect([text, nested?.[0]?.messages.at(-1)]).toMatchObject(['All done.', { agent: 'billing' }]);
  });
});
