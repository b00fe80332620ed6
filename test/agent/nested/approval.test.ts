import { Agent, defineTool, HookAction, type ResumeDecisions, type RunResult, toolCallsOf } from 'keelson';
import { approval, openRun, sealRun } from 'keelson/lifecycles';
import { calls, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { payChain } from '../../support/agent/nested/pay-chain.js';
import { echo } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';
import { resultsIn } from '../../support/agent/transcript.js';

const LEAF = 'call_1/call_1/call_1';
/** Models use the ids of calls again. */
const pays = (euro: number) => calls({ name: 'pay', id: 'call_1', input: { euro } });
const afterJson = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Resumes a run from its JSON. */
function goOn(agent: Agent, { history }: Pick<RunResult, 'history'>, resume: ResumeDecisions) {
  return agent.run('', { messages: afterJson(history), resume });
}

describe('a call that waits inside of two agents', () => {
  test('suspends the calls that lead to it, and has their ids in its own', async () => {
    const { boss, asked, paid } = payChain();

    const result = await boss.run('Start.');

    expect(result).toMatchObject({ status: 'suspended', pending: [{ id: LEAF, path: ['call_1', 'call_1'] }] });
    expect(result.pending).toEqual([
      {
        ...{
          type: 'tool-call',
          id: LEAF,
          name: 'pay',
          input: { euro: 40 },
          path: ['call_1', 'call_1'],
          agent: 'clerk',
        },
        ...{ reason: '"pay" needs approval.', by: 'approval' },
      },
    ]);
    expect([asked(), paid]).toEqual([[1, 1, 1], []]);
  });

  test('runs once after an approval in another process, and every agent goes on from its own messages', async () => {
    const first = payChain();
    const suspended = await first.boss.run('Start.');
    const { boss, paid, models } = payChain({ boss: ['All done.'], desk: ['Done.'], clerk: ['Paid.'] });

    const result = await goOn(boss, suspended, { [LEAF]: 'approve' });

    expect(result).toMatchObject({ status: 'completed', text: 'All done.' });
    expect(paid).toMatchObject([{ euro: 40 }]);
    expect(models.clerk.requests[0]?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect(resultsIn(models.desk.requests[0]?.messages ?? [])).toEqual({ call_1: 'Paid.' });
    expect(resultsIn(result.history)).toEqual({ call_1: 'Done.' });
    expect(JSON.stringify(result.history)).not.toContain('inside');
    expect(result.usage).toEqual({ inputTokens: 30, outputTokens: 15, totalTokens: 45 });
  });

  test('survives a seal', async () => {
    const { boss, paid } = payChain();
    const key = crypto.getRandomValues(new Uint8Array(32));
    const text = await sealRun(await boss.run('Start.'), key, { agent: 'boss', expiresInMs: 60_000 });

    const { messages, pending } = await openRun(text, key);
    const resume = Object.fromEntries(pending.map(({ id }) => [id, 'approve' as const]));
    const { text: answer } = await boss.run('', { messages, resume });

    expect([answer, paid.length]).toEqual(['All done.', 1]);
  });

  test('is denied by its own id, and its agent goes on', async () => {
    const { boss, paid, models } = payChain();
    const suspended = await boss.run('Start.');

    const result = await goOn(boss, suspended, { [LEAF]: { deny: 'too much' } });

    expect(result.text).toBe('All done.');
    expect(resultsIn(models.clerk.requests[1]?.messages ?? []).call_1).toContain('too much');
    expect(paid).toEqual([]);
  });

  test.each([
    ['call_1', [2, 1, 1], 'boss'],
    ['call_1/call_1', [2, 2, 1], 'desk'],
  ] as const)('is given up if the call %s that leads to it is denied', async (call, counts, caller) => {
    const { boss, asked, paid, models } = payChain();
    const suspended = await boss.run('Start.');

    const result = await goOn(boss, suspended, { [call]: { deny: 'stop it' } });

    expect(result.text).toBe('All done.');
    expect(resultsIn(models[caller].requests[1]?.messages ?? []).call_1).toContain('stop it');
    expect([asked(), paid]).toEqual([counts, []]);
  });

  test('runs with other arguments if they fit its schema', async () => {
    const { boss, paid } = payChain();
    const suspended = await boss.run('Start.');

    const error = await rejectionOf(goOn(boss, suspended, { [LEAF]: { approve: { euro: 1000 } } }));
    expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', calls: [LEAF], message: expect.stringContaining('100') });
    expect(paid).toEqual([]);

    await goOn(boss, suspended, { [LEAF]: { approve: { euro: 30 } } });
    expect(paid).toMatchObject([{ euro: 30 }]);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['an unknown id', { 'call_1/call_2': 'approve' }, 'not open: "call_1/call_2"'],
    ['an approval of a call that leads to it', { call_1: 'approve' }, 'Decide on the waiting calls of its nested run.'],
    ['an approval of a call between', { 'call_1/call_1': 'approve' }, 'Decide on the waiting calls of its nested run.'],
    ['both', { call_1: 'deny', [LEAF]: 'approve' }, 'not open: "call_1"'],
    ['a result', { [LEAF]: { result: 'paid' } }, 'only a call of a tool without `execute` takes one'],
    ['an unknown decision', { [LEAF]: 'yes' }, `The decision on "${LEAF}" must be`],
    ['no decision', {}, `for these ids: "${LEAF}"`],
  ])('refuses %s, and nothing runs', async (_title, resume, message) => {
    const { boss, asked, paid } = payChain();
    const suspended = await boss.run('Start.');

    const error = await rejectionOf(goOn(boss, suspended, resume as ResumeDecisions));

    expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', message: expect.stringContaining(message) });
    expect([asked(), paid]).toEqual([[1, 1, 1], []]);
  });

  test('may wait a second time', async () => {
    const { boss, paid } = payChain({ clerk: [pays(1), pays(2), 'Paid both.'] });
    const first = await boss.run('Start.');

    const second = await goOn(boss, first, { [LEAF]: 'approve' });
    expect(second.pending).toMatchObject([{ id: LEAF, input: { euro: 2 } }]);
    const third = await goOn(boss, second, { [LEAF]: 'approve' });

    expect([third.text, paid.map(({ euro }) => euro)]).toEqual(['All done.', [1, 2]]);
    expect(new Set(paid.map(({ key }) => key)).size).toBe(2);
  });
});

describe('agents that work at the same time', () => {
  const two = [calls({ name: 'desk', input: { prompt: 'a' } }, { name: 'desk', input: { prompt: 'b' } }), 'All done.'];

  test('wait together, and go on one by one', async () => {
    const ask = calls({ name: 'clerk', id: 'call_1', input: { prompt: 'x' } });
    const desk = [ask, ask, 'One desk.', 'Other desk.'];
    const clerk = [pays(1), pays(2), 'Paid one.', 'Paid other.'];
    const { boss, paid, models } = payChain({ boss: two, desk, clerk });
    const both = await boss.run('Start.');
    const ids = both.pending.map(({ id }) => id);
    expect(ids).toEqual(['call_1/call_1/call_1', 'call_2/call_1/call_1']);

    const rest = await goOn(boss, both, { 'call_2/call_1/call_1': 'approve' });
    expect(rest.pending).toEqual([both.pending[0]]);
    expect(resultsIn(rest.messages)).toEqual({ call_2: 'One desk.' });
    expect([paid.length, models.boss.requests.length]).toEqual([1, 1]);

    const done = await goOn(boss, rest, { 'call_1/call_1/call_1': 'approve' });
    expect([done.text, paid.length]).toEqual(['All done.', 2]);
    expect(resultsIn(done.history)).toEqual({ call_1: 'Other desk.', call_2: 'One desk.' });
  });

  test('do not hold up a call of the outer agent that needs approval', async () => {
    const inner = payChain().desk;
    const model = scriptedModel([
      calls({ name: 'desk', input: { prompt: 'a' } }, { name: 'echo', input: { text: 'b' } }),
      'done',
    ]);
    const tools = [inner.asTool({ description: 'Works.' }), echo];
    const agent = new Agent({ model, tools, lifecycle: [approval({ tools: ['echo'] })] });

    const first = await agent.run('go');
    expect(first.pending.map(({ id }) => id)).toEqual(['call_1/call_1/call_1', 'call_2']);
    const second = await goOn(agent, first, { call_2: 'approve' });
    expect(second).toMatchObject({ status: 'suspended', pending: [{ id: 'call_1/call_1/call_1' }] });
    const third = await goOn(agent, second, { 'call_1/call_1/call_1': 'approve' });

    expect(resultsIn(third.history)).toEqual({ call_1: 'The desk is done.', call_2: 'b' });
  });
});

test('an answer that waits inside of an agent is decided on by its path', async () => {
  const lifecycle = [{ afterModel: () => HookAction.suspend('Read it first.') }];
  const { boss, asked } = payChain({ clerk: ['A draft.'] }, { clerk: { lifecycle } });

  const suspended = await boss.run('Start.');
  expect(suspended.pending).toMatchObject([
    { type: 'answer', id: 'call_1/call_1/answer', text: 'A draft.', path: ['call_1', 'call_1'] },
  ]);
  const result = await goOn(boss, suspended, { 'call_1/call_1/answer': 'approve' });

  expect([result.text, asked()]).toEqual(['All done.', [2, 2, 1]]);
});

test('a call of a tool without `execute` inside of an agent takes its result by its path', async () => {
  const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({}) });
  const model = scriptedModel([calls('look', {}), 'I saw it.']);
  const helper = new Agent({ name: 'helper', model, tools: [look] });
  const outer = scriptedModel([calls('helper', { prompt: 'Look.' }), 'done']);
  const agent = new Agent({ model: outer, tools: [helper.asTool({ description: 'Helps.' })] });

  const suspended = await agent.run('go');
  expect(suspended.pending).toMatchObject([{ id: 'call_1/call_1', needs: 'result' }]);
  await goOn(agent, suspended, { 'call_1/call_1': { result: 'red' } });

  expect(resultsIn(model.requests[1]?.messages ?? [])).toEqual({ call_1: 'red' });
});

test('the id of a call never looks like that of a call inside of another one', async () => {
  const { boss } = payChain({ boss: [calls({ name: 'desk', id: 'a/b', input: { prompt: 'x' } }), 'All done.'] });

  const { history } = await boss.run('Start.');

  const ids = history.flatMap((message) => toolCallsOf(message).map(({ id }) => id));
  expect(ids.join()).not.toContain('/');
});
