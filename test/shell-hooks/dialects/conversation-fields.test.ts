import { type Message, textOf } from 'keelson';
import type { HookDefinition, HookDialect, HookEvent } from 'keelson/shell-hooks';
import { says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { rejectionOf } from '../../support/agent/settle.js';
import {
  agentWith,
  answers,
  countingTool,
  hooksIn,
  recorded,
  records,
  sh,
  useHookLab,
} from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

/** Returns a hook that answers with a part of its input, selected by a Node expression. */
function picks(event: HookEvent, expression: string, more: Partial<HookDefinition> = {}): HookDefinition {
  const program = `
    let text = '';
    process.stdin.on('data', (chunk) => { text += chunk; });
    process.stdin.on('end', () => { const { data } = JSON.parse(text); console.log(JSON.stringify(${expression})); });`;
  return { event, name: `pick-${event}`, command: process.execPath, args: ['-e', program], ...more };
}

const codes = (hooks: ReturnType<typeof hooksIn>) =>
  hooks.status().diagnostics.map(({ code, message }) => `${code} ${/`([\w.]+)`/.exec(message)?.[1]}`);

describe('a native hook at before_model', () => {
  test.each(['updatedMessages', 'updated_messages'])('changes the messages of the request with %s', async (key) => {
    const messages = '[...data.messages, { role: "user", content: "Be kind." }]';
    const hooks = hooksIn(lab, { hooks: [picks('before_model', `{ ${key}: ${messages} }`), records('before_model')] });
    const { agent, model } = agentWith(lab, hooks, { script: [says('ok')], instructions: 'Be brief.' });
    const { messages: kept } = await agent.run('go');

    expect(model.requests[0]?.messages.map(textOf)).toEqual(['Be brief.', 'go', 'Be kind.']);
    expect(kept.map(textOf)).toEqual(['go', 'ok']);
    // The next hook reads the changed messages.
    expect(recorded(lab)[0]).toMatchObject({ data: { messages: [{}, {}, { content: 'Be kind.' }] } });
    expect(codes(hooks)).toEqual([]);
  });

  test('keeps bytes and sensitive fields of a message that it returns unchanged', async () => {
    const image = { type: 'image', image: new Uint8Array([1, 2, 3]), mediaType: 'image/png' } as const;
    const history: Message[] = [
      { role: 'user', content: [image] },
      { role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'look', input: { password: 'x', at: 1 } }] },
      { role: 'tool', content: [{ type: 'tool-result', id: 'a', name: 'look', content: 'seen' }] },
    ];
    const hooks = hooksIn(lab, {
      hooks: [picks('before_model', '{ updatedMessages: data.messages.filter(({ content }) => content !== "go") }')],
      sensitive: ['password'],
    });
    const { agent, model } = agentWith(lab, hooks, { script: [says('ok')] });
    await agent.run('go', { messages: history });

    expect(model.requests[0]?.messages).toEqual(history);
  });

  test('does not restore a redacted field that a hook replaced with the string [redacted]', async () => {
    const hooks = hooksIn(lab, {
      hooks: [answers('before_model', { updatedMessages: [{ role: 'user', content: '[redacted]' }] })],
      sensitive: ['password'],
    });
    const { agent, model } = agentWith(lab, hooks, { script: [says('ok')] });
    await agent.run('my secret');

    expect(model.requests[0]?.messages.map(textOf)).toEqual(['[redacted]']);
  });

  test('answers in place of the model, with text or a tool call', async () => {
    const { tool, inputs } = countingTool('look');
    const call = [{ type: 'tool-call', id: 'a', name: 'look', input: { at: 'pier' } }];
    const first = `data.messages.length > 1 ? { updatedResponse: "from the cache" } : { updatedResponse: ${JSON.stringify(call)} }`;
    const { agent, model } = agentWith(lab, hooksIn(lab, { hooks: [picks('before_model', first)] }), {
      script: [],
      tools: [tool],
    });

    expect(await agent.run('go')).toMatchObject({ text: 'from the cache', turns: 2 });
    expect(inputs).toEqual([{ at: 'pier' }]);
    expect(model.requests).toEqual([]);
  });

  test.each<[unknown, string]>([
    [{ updatedMessages: 'none' }, '`updatedMessages` must be a non-empty array of messages'],
    [{ updatedMessages: [] }, '`updatedMessages` must be a non-empty array of messages'],
    [{ updated_messages: [{ role: 'boss', content: 'x' }] }, 'Message 0 has the unknown role "boss"'],
    [
      { updatedMessages: [{ role: 'assistant', content: 'x' }] },
      'Message 0 (assistant): `content` must be an array of parts',
    ],
    [
      { updatedMessages: [{ role: 'assistant', content: [{ type: 'tool-call', id: 'a', name: 'x', input: {} }] }] },
      '`updatedMessages` must contain a result for the tool call "a"',
    ],
    [{ updatedResponse: 5 }, '`updatedResponse` must be a string, or an array of parts'],
    [{ updatedResponse: { text: 'x' } }, '`updatedResponse` must be a string, or an array of parts'],
    [{ updatedResponse: [{ type: 'text' }] }, '`updatedResponse[0]` is invalid: a text part has no text'],
  ])('fails with %j, and the model gets the request as it was', async (output, problem) => {
    const hooks = hooksIn(lab, { hooks: [answers('before_model', output)] });
    const { agent, model } = agentWith(lab, hooks, { script: [says('ok')] });
    await agent.run('go');

    expect(model.requests[0]?.messages.map(textOf)).toEqual(['go']);
    expect(hooks.status().diagnostics).toMatchObject([
      { level: 'warning', code: 'gate-broken', message: expect.stringContaining(problem) },
    ]);
  });

  test('with onFailure block ends the run if its messages are invalid', async () => {
    const hooks = hooksIn(lab, { hooks: [answers('before_model', { updatedMessages: [1] }, { onFailure: 'block' })] });
    const { agent, model } = agentWith(lab, hooks, { script: [says('ok')] });

    expect(await rejectionOf(agent.run('go'))).toMatchObject({ code: 'ERR_RUN_REJECTED' });
    expect(model.requests).toEqual([]);
  });
});

describe('a native hook at after_model', () => {
  test('replaces the text with a string, and keeps the tool calls', async () => {
    const { tool, inputs } = countingTool('look');
    const hooks = hooksIn(lab, { hooks: [answers('after_model', { updatedResponse: 'redacted' })] });
    const { agent, model } = agentWith(lab, hooks, {
      script: [says('secret', { calls: [{ name: 'look', input: { at: 'pier' } }] }), says('secret')],
      tools: [tool],
    });

    expect((await agent.run('go')).text).toBe('redacted');
    expect(inputs).toEqual([{ at: 'pier' }]);
    expect(model.requests[1]?.messages[1]).toMatchObject({ content: [{ text: 'redacted' }, { type: 'tool-call' }] });
  });

  test('replaces all parts with an array, and a response without its tool calls is final', async () => {
    const { tool, inputs } = countingTool('erase');
    const parts = 'data.response.content.filter(({ type }) => type !== "tool-call")';
    const hooks = hooksIn(lab, { hooks: [picks('after_model', `{ updated_response: ${parts} }`)] });
    const script = [says('I will erase it.', { calls: [{ name: 'erase', input: {} }] })];
    const { agent } = agentWith(lab, hooks, { script, tools: [tool] });

    expect(await agent.run('go')).toMatchObject({ text: 'I will erase it.', status: 'completed' });
    expect(inputs).toEqual([]);
  });

  test('replaces the text before any of it is streamed', async () => {
    const hooks = hooksIn(lab, { hooks: [sh('after_model', `echo '{"updatedResponse":"[redacted]"}'`)] });
    const { agent } = agentWith(lab, hooks, { script: [says('the key is 42')] });
    const shown: string[] = [];
    for await (const event of agent.stream('go')) if (event.type === 'text-delta') shown.push(event.text);

    expect(shown.join('')).toBe('[redacted]');
  });

  test('fails if two of its tool calls have the same id', async () => {
    const call = { type: 'tool-call', id: 'a', name: 'look', input: {} };
    const hooks = hooksIn(lab, { hooks: [answers('after_model', { updatedResponse: [call, call] })] });
    const { agent } = agentWith(lab, hooks, { script: [says('fine')] });

    expect((await agent.run('go')).text).toBe('fine');
    expect(hooks.status().diagnostics[0]?.message).toContain('`updatedResponse` has two tool calls with the same id');
  });
});

describe('reports an output field without effect, once per hook and field,', () => {
  test.each<[HookDefinition['event'], object, string[]]>([
    ['before_model', { updatedInput: {}, updatedPrompt: 'x' }, ['updatedPrompt', 'updatedInput']],
    ['after_model', { updated_messages: [{ role: 'user', content: 'x' }] }, ['updatedMessages']],
    ['before_agent', { updatedOutput: 'x', ticket: 1, data: { updatedInput: {} } }, ['updatedOutput']],
    ['before_agent', { updatedResponse: null }, []],
  ])('in the native dialect at %s: %j', async (event, output, fields) => {
    const hooks = hooksIn(lab, { hooks: [answers(event, output)] });
    const { agent } = agentWith(lab, hooks, { script: [says('one'), says('two')] });
    await agent.run('go');
    await agent.run('go');

    expect(codes(hooks)).toEqual(fields.map((field) => `output-unsupported ${field}`));
  });

  test.each<[HookDialect, HookEvent, object, string[]]>([
    [
      'claude',
      'before_agent',
      { hookSpecificOutput: { updatedInput: {} } },
      ['`updatedInput` in `hookSpecificOutput`'],
    ],
    ['claude', 'before_tool', { permissionDecision: 'deny' }, ['`permissionDecision`']],
    ['claude', 'session_start', { continue: false, systemMessage: 'x' }, ['`continue`']],
    ['codex', 'after_tool', { hookSpecificOutput: { tool_output: 'x' } }, ['`tool_output` in `hookSpecificOutput`']],
    ['gemini', 'before_tool', { hookSpecificOutput: { llm_request: {} } }, ['`llm_request` in `hookSpecificOutput`']],
    ['gemini', 'before_tool_selection', { continue: false, stopReason: 'x' }, ['`continue`', '`stopReason`']],
    [
      'cursor',
      'before_agent',
      { updated_input: {}, additional_context: 'x' },
      ['`updated_input`', '`additional_context`'],
    ],
    ['cursor', 'session_start', { env: { A: '1' } }, ['`env`']],
    ['copilot', 'before_tool', { additionalContext: 'x', modifiedArgs: {} }, ['`additionalContext`']],
    ['copilot', 'before_agent', { decision: 'block' }, ['`decision`']],
  ])('in the %s dialect at %s: %j', async (...row) => {
    const [dialect, event, output, fields] = row;
    const hooks = hooksIn(lab, { hooks: [{ ...answers(event, output), dialect }] });
    const subject = { event, sessionId: 's', value: {}, describe: () => ({ data: {} }) };
    await hooks.runner.runEvent(subject);
    await hooks.runner.runEvent(subject);

    const { diagnostics } = hooks.status();
    expect(diagnostics.map(({ code }) => code)).toEqual(fields.map(() => 'output-unsupported'));
    for (const [at, field] of fields.entries())
      expect(diagnostics[at]?.message).toContain(`wrote ${field}, which has no`);
  });

  test.each<[HookDialect, object]>([
    ['claude', { suppressOutput: true, hookSpecificOutput: { hookEventName: 'PreToolUse', updatedInput: {} } }],
    ['gemini', { suppressOutput: true, decision: 'allow', hookSpecificOutput: { tool_input: {} } }],
    ['copilot', { permissionDecision: 'allow', modifiedArgs: null }],
  ])('but not for a field that means the same as an absent one, in the %s dialect: %j', async (dialect, output) => {
    const hooks = hooksIn(lab, { hooks: [{ ...answers('before_tool', { continue: true, ...output }), dialect }] });
    await hooks.runner.runEvent({ event: 'before_tool', sessionId: 's', value: {}, describe: () => ({ data: {} }) });

    expect(hooks.status().diagnostics).toEqual([]);
  });
});
