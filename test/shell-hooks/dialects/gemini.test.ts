import { textOf } from 'keelson';
import { calls, says } from 'keelson/testing';
import { expect, test } from 'vitest';
import { rejectionOf } from '../../support/agent/settle.js';
import { agentWith, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

function gemini(hooks: object) {
  lab.write('.gemini/settings.json', JSON.stringify({ mcpServers: {}, hooks }));
  const toolNames = { gemini: { run_command: 'run_shell_command' } };
  return hooksIn(lab, { discover: ['gemini'], approve: () => true, toolNames });
}

const command = (text: string, more: object = {}) => ({
  hooks: [{ type: 'command', command: text, timeout: 5000, ...more }],
});
const answer = (output: object) => command(`cat > /dev/null; echo '${JSON.stringify(output)}'`);
const given = (file: string) => JSON.parse(lab.read(file));

test('runs documented Gemini CLI hooks unmodified: they block a tool, rewrite its input and add context', async () => {
  lab.write(
    '.gemini/hooks/security.py',
    `import json, sys
data = json.load(sys.stdin)
if "secret" in json.dumps(data["tool_input"]):
    print(json.dumps({"decision": "deny", "reason": "Potential secret detected"}))
else:
    print(json.dumps({"decision": "allow", "hookSpecificOutput": {"tool_input": {"cwd": "/safe"}}}))
`,
  );
  const hooks = gemini({
    BeforeTool: [
      {
        matcher: 'run_shell.*',
        sequential: true,
        ...command('python3 $GEMINI_PROJECT_DIR/.gemini/hooks/security.py', { name: 'security' }),
      },
    ],
    BeforeAgent: [answer({ hookSpecificOutput: { hookEventName: 'BeforeAgent', additionalContext: 'Branch: main' } })],
  });
  const { tool, inputs } = countingTool('run_command');
  const { agent, model } = agentWith(lab, hooks, {
    script: [calls('run_command', { command: 'echo secret' }), calls('run_command', { command: 'ls' }), says('ok')],
    tools: [tool],
  });
  await agent.run('go');

  expect(inputs).toEqual([{ command: 'ls', cwd: '/safe' }]);
  expect(textOf(model.requests[1]?.messages.at(-1) as never)).toBe(
    'The call was blocked by hook "security": Potential secret detected',
  );
  expect(model.requests[0]?.messages.map(textOf)[1]).toContain('Branch: main');
});

test('passes the fields that Gemini CLI documents to hooks', async () => {
  const hooks = gemini({
    BeforeTool: [command('cat > tool.json')],
    BeforeModel: [command('cat > model.json')],
    AfterModel: [command('cat > answer.json')],
    AfterAgent: [command('cat > agent.json')],
  });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('mcp__files__read', {}), says('ok')],
    tools: [countingTool('mcp__files__read').tool],
    instructions: 'Be brief.',
  });
  await agent.run('go');

  expect(given('tool.json')).toMatchObject({
    hook_event_name: 'BeforeTool',
    tool_name: 'mcp_files_read',
    tool_input: {},
  });
  expect(given('model.json').llm_request).toMatchObject({
    model: 'scripted',
    messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'go' }, {}, {}],
  });
  expect(given('answer.json')).toMatchObject({ llm_response: { text: 'ok', usageMetadata: { totalTokenCount: 15 } } });
  expect(given('agent.json')).toMatchObject({
    hook_event_name: 'AfterAgent',
    prompt_response: 'ok',
    stop_hook_active: false,
  });
});

test('BeforeModel changes the request, or answers in place of the model', async () => {
  const change = {
    llm_request: {
      messages: [{ role: 'user', content: ['hel', { text: 'lo' }] }],
      config: { temperature: 0.1, stopSequences: ['x'] },
    },
  };
  const first = agentWith(lab, gemini({ BeforeModel: [answer({ hookSpecificOutput: change })] }), {
    script: [says('ok')],
  });
  await first.agent.run('go');
  expect(first.model.requests).toMatchObject([
    { messages: [{ role: 'user', content: 'hello' }], settings: { temperature: 0.1, stopSequences: ['x'] } },
  ]);

  const response = { llm_response: { candidates: [{ content: { role: 'model', parts: ['from ', 'the cache'] } }] } };
  const second = agentWith(lab, gemini({ BeforeModel: [answer({ hookSpecificOutput: response })] }), { script: [] });
  expect((await second.agent.run('go')).text).toBe('from the cache');
  expect(second.model.requests).toEqual([]);
});

test('ignores a changed request that cannot be sent', async () => {
  const drop = { hookSpecificOutput: { llm_request: { messages: [{ role: 'tool', content: 'x' }] } } };
  const { agent, model } = agentWith(lab, gemini({ BeforeModel: [answer(drop)] }), {
    script: [calls('look', {}), says('ok')],
    tools: [countingTool('look').tool],
  });
  await agent.run('go');

  expect(model.requests).toHaveLength(2);
});

test('AfterModel replaces the text of a response', async () => {
  const change = { hookSpecificOutput: { llm_response: { text: 'redacted' } } };

  expect(
    (await agentWith(lab, gemini({ AfterModel: [answer(change)] }), { script: [says('secret')] }).agent.run('go')).text,
  ).toBe('redacted');
});

test('AfterModel replaces the text of a response and keeps its tool calls', async () => {
  const { tool, inputs } = countingTool('look');
  const change = { hookSpecificOutput: { llm_response: { text: 'redacted' } } };
  const { agent, model } = agentWith(lab, gemini({ AfterModel: [answer(change)] }), {
    script: [says('secret', { calls: [{ name: 'look', input: { at: 'pier' } }] }), says('ok')],
    tools: [tool],
  });
  await agent.run('go');

  expect(inputs).toEqual([{ at: 'pier' }]);
  expect(model.requests[1]?.messages[1]).toMatchObject({
    content: [{ type: 'text', text: 'redacted' }, { type: 'tool-call' }],
  });
});

test('a response without parts changes nothing', async () => {
  const none = { hookSpecificOutput: { llm_response: { candidates: [{ content: { role: 'model', parts: [] } }] } } };
  const { agent } = agentWith(lab, gemini({ AfterModel: [answer(none)] }), { script: [says('fine')] });

  expect((await agent.run('go')).text).toBe('fine');
});

test('combines the allowed tool names of several hooks, and removes all tools with NONE', async () => {
  const limit = (toolConfig: object) => answer({ hookSpecificOutput: { toolConfig } });
  const tools = ['a', 'b', 'c'].map((name) => countingTool(name).tool);
  const offered = async (...groups: object[]) => {
    const { agent, model } = agentWith(lab, gemini({ BeforeToolSelection: groups }), { script: [says('ok')], tools });
    await agent.run('go');
    return [model.requests[0]?.tools.map(({ name }) => name), model.requests[0]?.toolChoice];
  };

  expect(
    await offered(limit({ mode: 'ANY', allowedFunctionNames: ['a'] }), limit({ allowedFunctionNames: ['c'] })),
  ).toEqual([['a', 'c'], 'required']);
  expect(await offered(limit({ mode: 'ANY', allowedFunctionNames: ['a'] }), limit({ mode: 'NONE' }))).toEqual([
    [],
    undefined,
  ]);
});

test('AfterTool replaces a refused result with the reason, and AfterAgent makes the agent answer again', async () => {
  const again = `if grep -q '"stop_hook_active":true'; then echo '{}'; else echo '{"decision":"deny","reason":"shorter"}'; fi`;
  const hooks = gemini({ AfterTool: [answer({ decision: 'deny', reason: 'hidden' })], AfterAgent: [command(again)] });
  const { agent, model } = agentWith(lab, hooks, {
    script: [calls('look', {}), says('a long answer'), says('short')],
    tools: [countingTool('look').tool],
  });

  expect((await agent.run('go')).text).toBe('short');
  expect(model.requests[1]?.messages.at(-1)).toMatchObject({ content: [{ content: 'hidden', isError: true }] });
  expect(textOf(model.requests[2]?.messages.at(-1) as never)).toContain('shorter');
});

test('exit code 2 refuses the prompt, exit code 1 does not, and plain text is shown to the user', async () => {
  const run = (group: object) =>
    agentWith(lab, gemini({ BeforeAgent: [group] }), { script: [says('ok')] }).agent.run('go');

  expect(await rejectionOf(run(command('echo no >&2; exit 2')))).toMatchObject({ reason: 'no' });
  expect((await run(command('exit 1'))).text).toBe('ok');
  expect((await run(command('echo all is well'))).text).toBe('ok');
  expect(lab.logged('info').some(({ message }) => message.includes('all is well'))).toBe(true);
  expect(await rejectionOf(run(answer({ continue: false, stopReason: 'enough' })))).toMatchObject({ reason: 'enough' });
});

test('reads timeouts in milliseconds, and reports differences from Gemini CLI', async () => {
  const hooks = gemini({
    AfterModel: [command('sleep 60', { timeout: 150 })],
    Unknown: [command('true')],
    Sequential: true,
  });
  await agentWith(lab, hooks, { script: [says('ok')] }).agent.run('go');

  expect(
    lab
      .logged('warn')
      .map(({ details }) => details?.timeoutMs)
      .filter(Boolean),
  ).toEqual([150]);
  expect(hooks.status().diagnostics.map(({ level, code }) => `${level} ${code}`)).toEqual([
    ...['info event-differs', 'error event-unsupported', 'info key-ignored', 'warning gate-broken'],
  ]);
});
