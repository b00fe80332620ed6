import { Agent, type Message, type ResumeDecisions, ResumeInvalidError } from 'keelson';
import { scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { asked, callsOf, resultsOf } from '../../support/agent/approval.js';
import { toolOf } from '../../support/agent/sample-tools.js';
import { rejectionOf } from '../../support/agent/settle.js';

/** Makes an agent that logs the calls of its model, tools and hooks. */
function watched() {
  const touched: string[] = [];
  const agent = new Agent({
    model: {
      id: 'm',
      generate() {
        touched.push('model');
        return Promise.reject(new Error('called'));
      },
    },
    tools: [toolOf('echo', () => void touched.push('tool'))],
    lifecycle: [{ beforeAgent: () => void touched.push('beforeAgent'), onError: () => void touched.push('onError') }],
  });
  agent.on('run-start', () => void touched.push('run-start'));
  return { agent, touched };
}

const open = [asked, callsOf('c1', 'c2')];

describe('open calls run only with decisions in `resume`', () => {
  test.each<[string, ResumeDecisions | undefined, readonly string[]]>([
    ['no decision', undefined, ['c1', 'c2']],
    ['an empty object of decisions', {}, ['c1', 'c2']],
    ['a decision on an unknown call', { c1: 'approve', c2: 'deny', c3: 'approve' }, ['c3']],
    ['an unknown decision', { c1: 'approve', c2: 'yes' as 'approve' }, ['c2']],
    ['a boolean', { c1: true as never, c2: 'approve' }, ['c1']],
    ['null', { c1: null as never, c2: 'approve' }, ['c1']],
    ['a denial with a number', { c1: { deny: 1 as never }, c2: 'approve' }, ['c1']],
    ['a decision that is inherited', Object.create({ c1: 'approve', c2: 'approve' }), ['c1', 'c2']],
  ])('a run with %s is refused, and the error has the ids of the calls', async (_title, resume, ids) => {
    const { agent, touched } = watched();

    const error = (await rejectionOf(agent.run('', { messages: open, resume }))) as ResumeInvalidError;

    expect(error).toBeInstanceOf(ResumeInvalidError);
    expect(error.code).toBe('ERR_RESUME_INVALID');
    expect(error.calls).toEqual(ids);
    for (const id of ids) expect(error.message).toContain(`"${id}"`);
    expect(touched).toEqual([]);
  });

  test.each<[string, readonly Message[] | undefined]>([
    ['without messages', undefined],
    ['without open calls', [asked, callsOf('c1'), resultsOf('c1')]],
    ['with a message after the results', [asked, callsOf('c1'), resultsOf('c1'), { role: 'user', content: 'x' }]],
  ])('a decision %s is refused', async (_title, messages) => {
    const { agent, touched } = watched();

    const error = await rejectionOf(agent.run('', { messages, resume: { c1: 'approve' } }));

    expect(error).toMatchObject({ code: 'ERR_RESUME_INVALID', calls: ['c1'] });
    expect(touched).toEqual([]);
  });

  test.each([
    ['after messages that end in open calls', open],
    ['after open calls and another message', [...open, asked]],
  ])('a new input %s is refused', async (_title, messages) => {
    const { agent, touched } = watched();

    const error = await rejectionOf(agent.run('ignore them', { messages }));

    expect(error).toBeInstanceOf(ResumeInvalidError);
    expect(touched).toEqual([]);
  });

  test('calls that the provider ran are not open', async () => {
    const { agent, touched } = watched();
    const call = { type: 'tool-call', id: 'c1', name: 'echo', input: {}, providerExecuted: true } as const;

    await rejectionOf(agent.run('', { messages: [asked, { role: 'assistant', content: [call] }] }));

    expect(touched).not.toContain('tool');
  });
});

const forged: Readonly<Record<string, readonly unknown[]>> = {
  'open calls in the middle': [asked, callsOf('c1'), callsOf('c2'), resultsOf('c2')],
  'a call without result in a turn with results': [asked, callsOf('c1', 'c2'), resultsOf('c1'), callsOf('c3')],
  'a message between a call and its result': [asked, callsOf('c1'), asked, resultsOf('c1')],
  'a result without call': [asked, resultsOf('c1')],
  'a result of another turn': [asked, callsOf('c1'), resultsOf('c1'), callsOf('c2'), resultsOf('c1')],
  'two results for one call': [asked, callsOf('c1'), resultsOf('c1', 'c1')],
  'two results for one call in two messages': [asked, callsOf('c1'), resultsOf('c1'), resultsOf('c1')],
  'two calls with one id': [asked, callsOf('c1', 'c1'), resultsOf('c1')],
  'a call without id': [asked, { role: 'assistant', content: [{ type: 'tool-call', name: 'echo', input: {} }] }],
  'a call without name': [asked, { role: 'assistant', content: [{ type: 'tool-call', id: 'c1', input: {} }] }],
  'an unknown role': [{ role: 'developer', content: 'x' }],
  'no role': [{ content: 'x' }],
  'a string in an assistant message': [{ role: 'assistant', content: 'x' }],
  'parts in a system message': [{ role: 'system', content: [{ type: 'text', text: 'x' }] }],
  'no content': [{ role: 'user' }],
  'a part without type': [{ role: 'user', content: [{ text: 'x' }] }],
  'a part that is null': [{ role: 'assistant', content: [null] }],
  'a message that is null': [null],
  'a string as a message': ['go'],
};

describe('messages from outside', () => {
  test.each(Object.entries(forged))('with %s are refused, and nothing runs', async (_title, messages) => {
    const { agent, touched } = watched();

    const error = await rejectionOf(agent.run('go', { messages: messages as Message[] }));

    expect(error).toMatchObject({ code: 'ERR_MESSAGE_INVALID' });
    expect(touched).toEqual([]);
  });

  test.each([
    ['a string', 'go'],
    ['an object', { 0: asked, length: 1 }],
  ])('that are %s are refused', async (_title, messages) => {
    const { agent } = watched();

    const error = await rejectionOf(agent.run('go', { messages: messages as unknown as Message[] }));

    expect(error).toMatchObject({ code: 'ERR_MESSAGE_INVALID' });
  });

  test('cause an error with the position of the invalid message', async () => {
    const { agent } = watched();

    const error = await rejectionOf(agent.run('go', { messages: [asked, callsOf('c1'), callsOf('c2')] }));

    expect((error as Error).message).toBe('Tool call "c1" has no result before message 2: add its tool result.');
  });

  test('may have the results of one turn in two messages', async () => {
    const { agent, touched } = watched();

    await rejectionOf(agent.run('', { messages: [asked, callsOf('c1', 'c2'), resultsOf('c1'), resultsOf('c2')] }));

    expect(touched).toContain('model');
    expect(touched).not.toContain('tool');
  });

  test('are copied, and the run does not change them', async () => {
    const messages = Object.freeze([Object.freeze({ role: 'user', content: 'hi' } as const)]);

    const { history } = await new Agent({ model: scriptedModel(['done']) }).run('go', { messages });

    expect(messages).toHaveLength(1);
    expect(history).toHaveLength(3);
  });
});
