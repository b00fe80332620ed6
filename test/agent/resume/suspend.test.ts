import { Agent, HookAction, type ResumeDecision, type RunResult } from 'keelson';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { approval } from '../../support/agent/approval.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { pause, rejectionOf } from '../../support/agent/settle.js';
import { transcript } from '../../support/agent/transcript.js';

/** Three tools that log their calls. Calls of `b` need approval. */
function arrange(script = [calls({ name: 'a' }, { name: 'b', input: { n: 1 } }, { name: 'c' }), 'done']) {
  const ran: string[] = [];
  const noting = (name: string) =>
    toolOf(name, async (input) => {
      ran.push(`${name} ${JSON.stringify(input)}`);
      await pause(1);
      return name;
    });
  const model = scriptedModel(script);
  const agent = new Agent({ model, tools: ['a', 'b', 'c'].map(noting), lifecycle: [approval('b')] });
  return { agent, model, ran };
}

const afterJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;
const resume = (agent: Agent, { history }: RunResult<unknown>, decision: ResumeDecision) =>
  agent.run('', { messages: afterJson(history), resume: { call_2: decision } });

describe('a suspended call', () => {
  test('stays open while the other calls finish, and is pending with its source and reason', async () => {
    const { agent, ran, model } = arrange();

    const result = await agent.run('go');

    expect(result.status).toBe('suspended');
    expect(result.text).toBe('');
    expect(result.pending).toEqual([
      { type: 'tool-call', id: 'call_2', name: 'b', input: { n: 1 }, reason: 'may I call b?', by: 'approval' },
    ]);
    expect(transcript(result.history)).toEqual([
      'user: go',
      'assistant: call call_1 a, call call_2 b, call call_3 c',
      'tool: call_1=a, call_3=c',
    ]);
    expect(ran).toEqual(['a {}', 'c {}']);
    expect(model.requests).toHaveLength(1);
    expect(result.decisions).toEqual([
      {
        type: 'suspend',
        by: 'approval',
        point: 'wrapToolCall',
        turn: 1,
        reason: 'may I call b?',
        call: { id: 'call_2', name: 'b' },
      },
    ]);
  });

  test('stays open if an outer wrap hook answers, and the answer is not recorded', async () => {
    const { agent } = arrange([calls({ name: 'b' })]);
    agent.use({
      name: 'swallower',
      priority: 90,
      wrapToolCall: (_call, next) => next().catch(() => ({ content: 'swallowed' })),
    });

    const { pending, decisions } = await agent.run('go');

    expect(pending).toHaveLength(1);
    expect(decisions.map(({ type, by }) => `${type} ${by}`)).toEqual(['suspend approval']);
  });

  test('that is approved runs once, and its result is in call order with the old results', async () => {
    const { agent, ran, model } = arrange();
    const suspended = await agent.run('go');
    ran.length = 0;

    const result = await resume(agent, suspended, 'approve');

    expect(result.status).toBe('completed');
    expect(ran).toEqual(['b {"n":1}']);
    expect(transcript(model.requests[1]?.messages ?? [])).toEqual([
      'user: go',
      'assistant: call call_1 a, call call_2 b, call call_3 c',
      'tool: call_1=a, call_2=b, call_3=c',
    ]);
    expect(result.decisions).toEqual([
      { type: 'approve', by: 'resume', point: 'resume', turn: 0, call: { id: 'call_2', name: 'b' } },
    ]);
  });

  test.each<[string, ResumeDecision, string]>([
    ['', 'deny', 'The call was denied.'],
    [' with a reason', { deny: 'not on Fridays' }, 'The call was denied: not on Fridays'],
  ])('that is denied%s does not run, and the model gets the denial', async (_title, decision, told) => {
    const { agent, ran, model } = arrange();
    const suspended = await agent.run('go');
    ran.length = 0;

    const result = await resume(agent, suspended, decision);

    expect(result.text).toBe('done');
    expect(ran).toEqual([]);
    expect(transcript(model.requests[1]?.messages ?? []).at(-1)).toBe(`tool: call_1=a, call_2!${told}, call_3=c`);
    expect(result.decisions).toMatchObject([{ type: 'block', by: 'resume', point: 'resume' }]);
  });

  test('that is approved passes through the wrap hooks, which get `approved: true`', async () => {
    const seen: unknown[] = [];
    const { agent } = arrange();
    agent.use({
      wrapToolCall(call, next) {
        seen.push([call.name, call.approved]);
        return next();
      },
    });
    const suspended = await agent.run('go');
    seen.length = 0;

    await resume(agent, suspended, 'approve');

    expect(seen).toEqual([['b', true]]);
  });

  test('can be suspended again when it is resumed', async () => {
    const { agent } = arrange();
    agent.use({
      name: 'second',
      priority: 0,
      wrapToolCall: (call, next) => (call.name === 'b' ? HookAction.suspend('sure?') : next()),
    });
    const first = await agent.run('go');

    const second = await resume(agent, first, 'approve');

    expect(second.status).toBe('suspended');
    expect(second.pending).toMatchObject([{ id: 'call_2', reason: 'sure?', by: 'second' }]);
    expect(transcript(second.history)).toEqual(transcript(first.history));
  });

  test('keeps the user message of the resumed run after the results', async () => {
    const { agent, model } = arrange();
    const suspended = await agent.run('go');

    await agent.run('and hurry', { messages: suspended.history, resume: { call_2: 'approve' } });

    expect(transcript(model.requests[1]?.messages ?? []).slice(-2)).toEqual([
      'tool: call_1=a, call_2=b, call_3=c',
      'user: and hurry',
    ]);
  });

  test('gets an error result if another hook of the turn fails', async () => {
    const { agent } = arrange();
    agent.use({
      name: 'faulty',
      wrapToolCall: async (call, next) => {
        if (call.name !== 'c') return next();
        await pause(5);
        throw new Error('boom');
      },
    });

    const error = await rejectionOf(agent.run('go'));

    expect(transcript((error as { history: [] }).history).at(-1)).toMatch(
      /^tool: call_1=a, call_2!.*boom, call_3!.*boom$/,
    );
  });

  test('gets an error result if the run is aborted in the meantime', async () => {
    const controller = new AbortController();
    const { agent } = arrange();
    agent.use({
      wrapToolCall: (call, next) => {
        if (call.name === 'c') controller.abort('enough');
        return next();
      },
    });

    const error = await rejectionOf(agent.run('go', { signal: controller.signal }));

    expect(error).toMatchObject({ code: 'ERR_RUN_ABORTED' });
    expect(transcript((error as { history: [] }).history).at(-1)).toMatch(/call_2!.*aborted/);
  });

  test.each(['aborted', 'failed'])('gets an error result if the run is %s in afterAgent', async (how) => {
    const controller = new AbortController();
    const { agent } = arrange();
    agent.use({
      afterAgent() {
        if (how === 'failed') throw new Error('boom');
        controller.abort('enough');
        return pause().then(() => undefined);
      },
    });

    const error = await rejectionOf(agent.run('go', { signal: controller.signal }));

    expect(transcript((error as { history: [] }).history).at(-1)).toMatch(/^tool: call_1=a, call_2!.*, call_3=c$/);
  });

  test('has a tool-start event and a tool-end event without a result', async () => {
    const { agent } = arrange([calls('b', { n: 1 }), 'done']);
    const events: unknown[] = [];
    agent.on('tool-start', ({ type, callId }) => void events.push([type, callId]));
    agent.on('tool-end', ({ type, callId, result }) => void events.push([type, callId, result]));

    await agent.run('go');

    expect(events).toEqual([
      ['tool-start', 'call_1'],
      ['tool-end', 'call_1', undefined],
    ]);
  });

  test('still lets afterAgent run', async () => {
    const seen: string[] = [];
    const { agent } = arrange();
    agent.use({ afterAgent: (text) => void seen.push(text) });

    await agent.run('go');

    expect(seen).toEqual(['']);
  });
});

describe('a suspend action of afterModel', () => {
  const suspendAll = { name: 'gate', afterModel: () => HookAction.suspend('wait') };

  test('leaves every call of the turn open and runs no call', async () => {
    const { agent, ran } = arrange();
    agent.use(suspendAll);

    const { status, pending, history } = await agent.run('go');

    expect(status).toBe('suspended');
    expect(pending.map(({ id, by }) => [id, by])).toEqual([
      ['call_1', 'gate'],
      ['call_2', 'gate'],
      ['call_3', 'gate'],
    ]);
    expect(transcript(history)).toEqual(['user: go', 'assistant: call call_1 a, call call_2 b, call call_3 c']);
    expect(ran).toEqual([]);
  });

  test('can be resumed with a decision on each call', async () => {
    const { agent, ran, model } = arrange();
    const off = agent.use(suspendAll);
    const { history } = await agent.run('go');
    off();

    const resumed = { call_1: 'approve', call_2: 'deny', call_3: 'approve' } as const;
    const result = await agent.run('', { messages: afterJson(history), resume: resumed });

    expect(result.text).toBe('done');
    expect(ran).toEqual(['a {}', 'c {}']);
    expect(transcript(model.requests[1]?.messages ?? []).at(-1)).toBe(
      'tool: call_1=a, call_2!The call was denied., call_3=c',
    );
  });

  test('keeps added messages after the results', async () => {
    const { agent } = arrange();
    const off = agent.use({
      afterModel(_response, run) {
        run.add({ role: 'user', content: 'note' });
        return HookAction.suspend('wait');
      },
    });
    const { history } = await agent.run('go');
    off();

    const resumed = { call_1: 'deny', call_2: 'deny', call_3: 'deny' } as const;
    const result = await agent.run('', { messages: afterJson(history), resume: resumed });

    expect(transcript(result.history).slice(-2)).toEqual(['user: note', 'assistant: done']);
  });

  test('also suspends a run whose response has no calls, with the answer in `pending`', async () => {
    const agent = new Agent({ model: scriptedModel([says('an answer')]), lifecycle: [suspendAll] });

    const { status, pending, history } = await agent.run('go');

    expect([status, pending.map(({ type, id }) => [type, id])]).toEqual(['suspended', [['answer', 'answer']]]);
    expect(transcript(history)).toEqual(['user: go', 'assistant?: an answer']);
  });
});
