import { createToolSet } from 'keelson';
import { approval } from 'keelson/lifecycles';
import { HOOK_EVENTS } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { expect, test } from 'vitest';
import {
  agentWith,
  countingTool,
  hooksIn,
  recorded,
  records,
  sh,
  useHookLab,
} from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const everything = () => hooksIn(lab, { hooks: HOOK_EVENTS.map((event) => records(event)) });
const only = (event: (typeof HOOK_EVENTS)[number]) => recorded(lab).filter((document) => document.event === event);
const dataOf = (event: (typeof HOOK_EVENTS)[number]) =>
  only(event).map(({ data }) => data) as Record<string, unknown>[];

test('S0-1.1: session_start runs once, before all other events, with the session id', async () => {
  const { agent } = agentWith(lab, everything(), { script: [says('one'), says('two')] });
  const session = await agent.session({ id: 'harbour' });
  await session.run('first');
  await session.run('second');

  expect(recorded(lab).map(({ event }) => event as string)).toEqual([
    'session_start',
    ...['before_agent', 'before_model', 'before_tool_selection', 'after_model', 'after_agent'],
    ...['before_agent', 'before_model', 'before_tool_selection', 'after_model', 'after_agent'],
  ]);
  expect(dataOf('session_start')).toEqual([{ session_id: 'harbour' }]);
});

test('S0-1.2: session_end gets the session id and all messages', async () => {
  const { agent } = agentWith(lab, everything(), { script: [says('one'), says('two')] });
  const session = await agent.session({ id: 'harbour' });
  await session.run('first');
  await session.run('second');
  await session.close();

  expect(dataOf('session_end')).toEqual([{ session_id: 'harbour', messages: session.messages }]);
  expect(session.messages).toHaveLength(4);
});

test('S0-1.3: before_agent gets the prompt, and a context with the messages so far', async () => {
  const { agent } = agentWith(lab, everything(), { script: [says('one'), says('two')], instructions: 'Be brief.' });
  const session = await agent.session({ id: 'harbour' });
  await session.run('first');
  const soFar = [...session.messages];
  await session.run('second');

  expect(dataOf('before_agent')[1]).toEqual({
    prompt: 'second',
    context: {
      session_id: 'harbour',
      run_id: expect.stringMatching(/^run_/),
      agent: 'agent',
      model: 'scripted',
      instructions: 'Be brief.',
      messages: soFar,
    },
  });
});

test('S0-1.4: after_agent gets the answer and all tool calls of the run in call order', async () => {
  const { tool } = countingTool('look');
  const look = (at: number) => ({ name: 'look', input: { at }, id: `call ${at}` });
  const script = [calls(look(1)), calls(look(2), look(3)), says('seen')];
  const { agent } = agentWith(lab, everything(), { script, tools: [tool] });
  await agent.run('go');

  expect(dataOf('after_agent')).toEqual([
    {
      response: 'seen',
      tool_calls: [
        { id: 'call 1', name: 'look', args: { at: 1 } },
        { id: 'call 2', name: 'look', args: { at: 2 } },
        { id: 'call 3', name: 'look', args: { at: 3 } },
      ],
    },
  ]);
});

test('S0-1.4: after_agent gets an empty array for a run without tool calls', async () => {
  const { agent } = agentWith(lab, everything(), { script: [says('seen')] });
  await agent.run('go');

  expect(dataOf('after_agent')).toEqual([{ response: 'seen', tool_calls: [] }]);
});

test('S0-1.5: before_model gets the messages of the request, including instructions, and the model', async () => {
  const { tool } = countingTool('look');
  const { agent, model } = agentWith(lab, everything(), {
    script: [calls('look', {}), says('seen')],
    tools: [tool],
    instructions: 'Be brief.',
  });
  await agent.run('go');

  expect(dataOf('before_model')).toEqual(model.requests.map(({ messages }) => ({ messages, model: 'scripted' })));
  expect(dataOf('before_model')).toHaveLength(2);
});

test('S0-1.6: after_model gets the response and its token counts', async () => {
  const { agent } = agentWith(lab, everything(), { script: [says('seen')] });
  await agent.run('go');

  expect(dataOf('after_model')).toEqual([
    {
      response: { text: 'seen', content: [{ type: 'text', text: 'seen' }], tool_calls: [], finish_reason: 'stop' },
      tokens: { input: 10, output: 5, total: 15 },
    },
  ]);
});

test('S0-1.7: before_tool_selection gets the available tool names before each model call', async () => {
  const tools = createToolSet(['one', 'two', 'three'].map((name) => countingTool(name).tool));
  const growing = countingTool('four').tool;
  const grow = countingTool('grow', () => {
    tools.add(growing);
    return 'grown';
  }).tool;
  tools.remove('three');
  tools.add(grow);
  const { agent } = agentWith(lab, everything(), { script: [calls('grow', {}), says('seen')], tools });
  await agent.run('go');

  expect(dataOf('before_tool_selection')).toEqual([
    { available_tools: ['one', 'two', 'grow'] },
    { available_tools: ['one', 'two', 'grow', 'four'] },
  ]);
});

test('S0-1.8: before_tool gets the tool name and arguments before the tool runs', async () => {
  const { tool } = countingTool('write', () => {
    lab.write('written', 'x');
    return 'ok';
  });
  const hook = sh('before_tool', 'cat > seen.json; test -e written && echo late > late; true');
  const { agent } = agentWith(lab, hooksIn(lab, { hooks: [hook] }), {
    script: [calls('write', { to: 'ä' }), says('ok')],
    tools: [tool],
  });
  await agent.run('go');

  expect(JSON.parse(lab.read('seen.json'))).toMatchObject({
    event: 'before_tool',
    hook_event_name: 'before_tool',
    data: { tool_name: 'write', args: { to: 'ä' }, tool_use_id: 'call_1' },
    ...{ tool_name: 'write', tool_input: { to: 'ä' }, tool_use_id: 'call_1', cwd: lab.workspace },
  });
  expect([lab.has('written'), lab.has('late')]).toEqual([true, false]);
});

test('S0-1.9: after_tool gets the result of each tool call that ran, including failures', async () => {
  const good = countingTool('good', () => ({ n: 1 })).tool;
  const bad = countingTool('bad', () => {
    throw new TypeError('broken');
  }).tool;
  const stopped = countingTool('stopped');
  const denied = countingTool('denied');
  const hooks = hooksIn(lab, {
    hooks: [
      records('after_tool'),
      sh('before_tool', `echo '{"continue":false,"reason":"not that"}'`, { matcher: 'stopped' }),
    ],
  });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('good', {}), calls('bad', {}), calls('stopped', {}), calls('denied', {}), says('ok')],
    tools: [good, bad, stopped.tool, denied.tool],
    lifecycle: [approval({ when: ({ name }) => name === 'denied', ask: () => ({ deny: 'no' }) })],
  });
  await agent.run('go');

  expect(dataOf('after_tool').map(({ tool_name, result }) => [tool_name, result])).toEqual([
    ['good', { content: '{"n":1}', structured: { n: 1 }, is_error: false }],
    ['bad', { content: 'broken', is_error: true }],
  ]);
  expect([stopped.inputs, denied.inputs]).toEqual([[], []]);
});
