import { Agent, type AgentLifecycle, HookAction, type Message, type RunContext, type RunError } from 'keelson';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { approval, asked, callsOf, resultsOf } from '../../support/agent/approval.js';
import { pairingProblem } from '../../support/agent/pairing.js';
import { echo, toolOf } from '../../support/agent/sample-tools.js';
import { pause, rejectionOf } from '../../support/agent/settle.js';
import { resultsIn, transcript } from '../../support/agent/transcript.js';

/** Messages in which c1 has a result from an earlier process and c2 is open. */
const suspended: readonly Message[] = [asked, callsOf('c1', 'c2'), resultsOf('c1')];

function arrange(...lifecycle: readonly AgentLifecycle[]) {
  const model = scriptedModel(['done']);
  return { model, agent: new Agent({ model, tools: [echo], lifecycle }) };
}

const approve = { messages: suspended, resume: { c2: 'approve' } } as const;

describe('a resumed run that ends before its calls run', () => {
  test('gives them error results if beforeAgent responds, and keeps the existing results', async () => {
    const { agent } = arrange({ beforeAgent: () => HookAction.respond('closed today') });

    const { history } = await agent.run('', approve);

    expect(resultsIn(history)).toMatchObject({ c1: 'old c1', c2: expect.stringMatching(/^!/) });
    expect(pairingProblem(history)).toBe(undefined);
  });

  test('has a history to continue from if beforeAgent rejects', async () => {
    const { agent } = arrange({ beforeAgent: () => HookAction.reject('closed') });

    const { history } = (await rejectionOf(agent.run('and hurry', approve))) as RunError;

    expect(resultsIn(history).c1).toBe('old c1');
    expect(pairingProblem(history)).toBe(undefined);
  });

  const failing: Readonly<Record<string, (agent: Agent) => Promise<unknown>>> = {
    'a hook throws': (agent) => {
      agent.use({
        beforeAgent() {
          throw new Error('x');
        },
      });
      return agent.run('', approve);
    },
    'it was aborted before the start': (agent) => agent.run('', { ...approve, signal: AbortSignal.abort() }),
    'the tools cannot be selected': (agent) => {
      agent.use({ beforeToolSelection: () => Promise.reject(new Error('x')) });
      return agent.run('', approve);
    },
  };

  test.each(Object.entries(failing))('keeps the existing results: %s', async (_title, start) => {
    const { agent } = arrange();

    const { history } = (await rejectionOf(start(agent))) as RunError;

    expect(resultsIn(history).c1).toBe('old c1');
  });

  test('keeps the existing results if beforeToolSelection rejects', async () => {
    const { agent } = arrange({ beforeToolSelection: () => HookAction.reject('closed') });

    const { history } = (await rejectionOf(agent.run('', approve))) as RunError;

    expect(resultsIn(history)).toEqual({
      c1: 'old c1',
      c2: '!The call was not completed, because the run ended: closed',
    });
  });

  test('keeps the results of calls after the aborted call', async () => {
    const controller = new AbortController();
    const agent = new Agent({
      model: scriptedModel([]),
      parallelToolCalls: false,
      tools: [
        toolOf('echo', () => {
          controller.abort('enough');
          return new Promise(() => {});
        }),
      ],
    });
    const messages = [asked, callsOf('c1', 'c2'), resultsOf('c2')];

    const { history } = (await rejectionOf(
      agent.run('', { messages, resume: { c1: 'approve' }, signal: controller.signal }),
    )) as RunError;

    expect(resultsIn(history)).toEqual({ c1: '!The call was aborted. The run was aborted: enough', c2: 'old c2' });
  });

  test('keeps the denial of a call after the call that ends the run', async () => {
    const agent = new Agent({
      model: scriptedModel([]),
      parallelToolCalls: 1,
      tools: [toolOf('echo', (_input, { run }) => (run as RunContext).end(HookAction.respond('enough')))],
    });

    const { history } = await agent.run('', {
      messages: [asked, callsOf('c1', 'c2')],
      resume: { c1: 'approve', c2: { deny: 'no' } },
    });

    expect(resultsIn(history).c2).toBe('!The call was denied: no');
  });
});

describe('the history of a suspended run can always be resumed', () => {
  const goOn = (agent: Agent, history: readonly Message[], id: string) =>
    agent.run('', { messages: JSON.parse(JSON.stringify(history)) as Message[], resume: { [id]: 'deny' } });

  test.each<Message>([
    { role: 'user', content: 'note' },
    { role: 'system', content: 'note' },
    { role: 'assistant', content: [{ type: 'text', text: 'note' }] },
  ])('also if a hook added a message of role $role in the turn', async (message) => {
    const agent = new Agent({
      model: scriptedModel([calls('echo', { text: 'x' }), 'done']),
      tools: [echo],
      lifecycle: [
        approval('echo'),
        {
          priority: 90,
          wrapToolCall(call, next) {
            call.run.add(message);
            return next();
          },
        },
      ],
    });
    const { history } = await agent.run('go');

    const result = await goOn(agent, history, 'call_1');

    expect(transcript(result.history)).toEqual([
      'user: go',
      'assistant: call call_1 echo',
      'tool: call_1!The call was denied.',
      `${message.role}: note`,
      'assistant: done',
    ]);
  });

  test('also if it was resumed with a user message and suspended again', async () => {
    const { agent } = arrange({ wrapToolCall: () => HookAction.suspend('not yet') });

    const { status, history } = await agent.run('and hurry', approve);
    const result = await goOn(agent, history, 'c2');

    expect([status, result.text]).toEqual(['suspended', 'done']);
    expect(resultsIn(result.history).c1).toBe('old c1');
  });

  test('also if beforeModel replaced the earlier messages', async () => {
    const agent = new Agent({
      model: scriptedModel([calls('echo', { text: 'x' }), 'done']),
      tools: [echo],
      lifecycle: [
        approval('echo'),
        { beforeModel: (messages) => [{ role: 'user', content: 'summary' }, ...messages.slice(1)] },
      ],
    });
    const { history } = await agent.run('go');

    const result = await goOn(agent, history, 'call_1');

    expect(transcript(result.history)).toEqual([
      'user: summary',
      'assistant: call call_1 echo',
      'tool: call_1!The call was denied.',
      'assistant: done',
    ]);
  });

  test('two calls that are approved one by one each run once', async () => {
    const ran: string[] = [];
    const allowed = new Set<string>();
    const agent = new Agent({
      model: scriptedModel([calls({ name: 'pay', id: 'p1' }, { name: 'pay', id: 'p2' }), 'done']),
      tools: [toolOf('pay', (_input, { callId }) => pause(1).then(() => ran.push(callId)))],
      lifecycle: [{ wrapToolCall: (call, next) => (allowed.has(call.id) ? next() : HookAction.suspend('ask')) }],
    });
    const first = await agent.run('go');
    allowed.add('p1');
    const second = await agent.run('', { messages: first.history, resume: { p1: 'approve', p2: 'approve' } });
    allowed.add('p2');
    const third = await agent.run('', { messages: second.history, resume: { p2: 'approve' } });

    expect(second.pending.map(({ id }) => id)).toEqual(['p2']);
    expect(third.text).toBe('done');
    expect(ran).toEqual(['p1', 'p2']);
  });
});

test('a hook that changes the arguments in place changes neither the messages nor `pending` of the caller', async () => {
  const ran: unknown[] = [];
  const model = scriptedModel([calls({ name: 'pay', id: 'p1', input: { amount: 40, to: { name: 'Ann' } } }), 'done']);
  const change: AgentLifecycle = {
    wrapToolCall(call, next) {
      if (call.approved) Object.assign((call.input as { to: object }).to, { name: 'Eve' });
      return next();
    },
  };
  const ask: AgentLifecycle = {
    wrapToolCall: (call, next) => (call.approved ? next() : HookAction.suspend('ask')),
  };
  const agent = new Agent({ model, tools: [toolOf('pay', (input) => ran.push(input))], lifecycle: [change, ask] });
  const first = await agent.run('go');
  const before = structuredClone({ history: first.history, pending: first.pending });

  for (const _attempt of [1, 2]) {
    const again = await agent.run('', { messages: first.history, resume: { p1: 'approve' } });
    expect(again.pending).toMatchObject(before.pending);
  }

  expect({ history: first.history, pending: first.pending }).toEqual(before);
  expect(ran).toEqual([]);
});
