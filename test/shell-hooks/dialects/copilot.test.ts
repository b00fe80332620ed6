import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, textOf } from 'keelson';
import { approval } from 'keelson/lifecycles';
import type { ShellHooksOptions } from 'keelson/shell-hooks';
import { calls, says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const toolNames = { copilot: { run_command: 'bash', write_file: 'edit' } };
const given = (file: string) => JSON.parse(lab.read(file));

/** Returns approved hooks from a file in `.github/hooks` of the workspace. */
function copilotHooks(hooks: object, options: ShellHooksOptions = {}) {
  lab.write('.github/hooks/policy.json', JSON.stringify({ version: 1, hooks }));
  return hooksIn(lab, { discover: ['copilot'], approve: () => true, toolNames, ...options });
}

const bash = (text: string, more: object = {}) => ({ type: 'command', bash: text, timeoutSec: 20, ...more });

const GUARD = `#!/usr/bin/env node
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { toolName, toolArgs } = JSON.parse(text);
console.log('{"type": "progress", "message": "Checking policy..."}');
const { command = '' } = JSON.parse(toolArgs);
if (toolName === 'bash' && command.includes('sudo')) {
  console.log(JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: 'No sudo.' }, null, 2));
} else if (command.startsWith('rm ')) {
  const modifiedArgs = { command: command.replace('rm ', 'trash ') };
  console.log(JSON.stringify({ permissionDecision: 'allow', modifiedArgs }));
} else console.log(JSON.stringify({ permissionDecision: 'allow' }));
`;

test('runs Copilot hooks unmodified: they allow, deny and rewrite a tool call', async () => {
  lab.write('scripts/guard.mjs', GUARD);
  const hooks = copilotHooks({
    preToolUse: [
      {
        ...{ type: 'command', bash: './guard.mjs', powershell: './guard.ps1', cwd: 'scripts' },
        ...{ env: { LOG_LEVEL: 'INFO' }, timeoutSec: 15, comment: 'Security validation' },
      },
    ],
  });
  const shell = countingTool('run_command');
  const { agent, model } = agentWith(lab, hooks, {
    script: [
      calls('run_command', { command: 'sudo ls' }),
      calls('run_command', { command: 'rm a' }),
      calls('run_command', { command: 'ls' }),
      says('ok'),
    ],
    tools: [shell.tool],
  });
  await agent.run('go');

  expect(shell.inputs).toEqual([{ command: 'trash a' }, { command: 'ls' }]);
  expect(textOf(model.requests[1]?.messages.at(-1) as never)).toBe(
    'The call was blocked by hook "copilot:preToolUse#1": No sudo.',
  );
  expect(hooks.status().diagnostics).toEqual([]);
});

test('passes the fields that GitHub documents to hooks', async () => {
  const events = ['sessionStart', 'userPromptSubmitted', 'preToolUse', 'postToolUse', 'postToolUseFailure'];
  events.push('agentStop', 'sessionEnd');
  const hooks = copilotHooks(Object.fromEntries(events.map((event) => [event, [bash(`cat > ${event}.json`)]])));
  const broken = countingTool('broken', () => {
    throw new RangeError('leak');
  });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('broken', {}), calls('run_command', { command: 'ls' }), says('done')],
    tools: [countingTool('run_command').tool, broken.tool],
  });
  const session = await agent.session({ id: 's1' });
  await session.run('go');
  await session.close();
  const common = { sessionId: 's1', timestamp: expect.any(Number), cwd: lab.workspace };
  const call = { toolName: 'bash', toolArgs: '{"command":"ls"}' };

  expect(given('sessionStart.json')).toMatchObject({ ...common, source: 'startup' });
  expect(given('userPromptSubmitted.json')).toMatchObject({ ...common, prompt: 'go' });
  expect(given('preToolUse.json')).toMatchObject({ ...common, ...call });
  expect(given('postToolUse.json')).toMatchObject({
    ...{ ...common, ...call, toolResult: { resultType: 'success', textResultForLlm: 'done' } },
  });
  expect(given('postToolUseFailure.json')).toMatchObject({
    toolName: 'broken',
    error: expect.stringContaining('leak'),
  });
  expect(given('agentStop.json')).toMatchObject({ ...common, stopReason: 'end_turn', stop_hook_active: false });
  expect(given('sessionEnd.json')).toMatchObject({ ...common, reason: 'complete' });
});

test.each([
  { title: 'exit code 2', text: 'echo "not here" >&2; exit 2', runs: 0, shown: 'not here' },
  {
    title: 'exit code 2 together with allow',
    text: `echo '{"permissionDecision":"allow"}'; exit 2`,
    runs: 0,
    shown: 'no reason was given',
  },
  {
    title: 'exit code 1',
    text: `echo '{"permissionDecision":"allow"}'; exit 1`,
    runs: 0,
    shown: 'the hook failed: It exited with code 1',
  },
  {
    title: 'deny together with exit code 1',
    text: `echo '{"permissionDecision":"deny","permissionDecisionReason":"no"}'; exit 1`,
    runs: 0,
    shown: 'no',
  },
  { title: 'a timeout', text: 'sleep 30', runs: 1, shown: 'done' },
  { title: 'output that is not JSON', text: 'echo checked', runs: 1, shown: 'done' },
  { title: 'empty output', text: 'true', runs: 1, shown: 'done' },
])('a preToolUse hook with $title lets the tool run $runs times', async ({ text, runs, shown }) => {
  const hooks = copilotHooks({ preToolUse: [bash(text, { timeoutSec: text.startsWith('sleep') ? 0.3 : 20 })] });
  const { tool, inputs } = countingTool('run_command');
  const { agent, model } = agentWith(lab, hooks, {
    script: [calls('run_command', { command: 'ls' }), says('ok')],
    tools: [tool],
  });
  await agent.run('go');

  expect(inputs).toHaveLength(runs);
  expect(textOf(model.requests[1]?.messages.at(-1) as never)).toContain(shown);
});

test('a regular expression matches only whole names, and a hook with an invalid one is left out', async () => {
  const hooks = copilotHooks({
    preToolUse: [bash('echo x >> part', { matcher: 'ba.' }), bash('echo x >> whole', { matcher: 'ba.*|edit' })],
    postToolUse: [bash('true', { matcher: '(' })],
  });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('run_command', { command: 'ls' }), says('ok')],
    tools: [countingTool('run_command').tool],
  });
  await agent.run('go');

  expect([lab.has('part'), lab.read('whole')]).toEqual([false, 'x\n']);
  expect(hooks.status().diagnostics).toMatchObject([
    { level: 'error', code: 'hook-invalid' },
    { level: 'error', code: 'matcher-unknown' },
  ]);
});

test('hooks add context, replace a result, ask a person, and make the agent continue', async () => {
  const said = (output: object) => bash(`echo '${JSON.stringify(output)}'`);
  const result = { resultType: 'success', textResultForLlm: 'cleaned' };
  const hooks = copilotHooks({
    sessionStart: [said({ additionalContext: 'It is low tide.' })],
    userPromptSubmitted: [said({ modifiedPrompt: 'nobody reads this' })],
    preToolUse: [{ ...said({ permissionDecision: 'ask', permissionDecisionReason: 'Sure?' }), matcher: 'edit' }],
    postToolUse: [said({ modifiedResult: result, additionalContext: 'It was long.' })],
    agentStop: [bash(`grep -q '"stop_hook_active":false' && echo '{"decision":"block","reason":"Test it."}' || true`)],
  });
  const { agent, model } = agentWith(lab, hooks, {
    script: [calls('run_command', { command: 'ls' }), says('one'), says('two'), calls('write_file', {})],
    tools: [countingTool('run_command').tool, countingTool('write_file').tool],
  });
  const session = await agent.session({ id: 's1' });
  const { text } = await session.run('go');
  const sent = model.requests.at(-1)?.messages.map(textOf) ?? [];
  const asked = await session.run('write');

  expect(text).toBe('two');
  expect(sent).toContain('cleaned');
  expect(sent).toContain('go');
  for (const words of ['It is low tide.', 'It was long.', 'Test it.']) {
    expect(sent.some((message) => message.includes(words))).toBe(true);
  }
  expect(asked).toMatchObject({ status: 'suspended' });
});

test('reads all hook files of a directory, sorted by name, first of the user, then of the workspace', async () => {
  const folder = join(lab.home, '.copilot', 'hooks');
  mkdirSync(folder, { recursive: true });
  const file = (word: string) => ({
    version: 1,
    hooks: { userPromptSubmitted: [{ exec: 'sh', args: ['-c', `echo ${word} >> order`] }] },
  });
  writeFileSync(join(folder, 'mine.json'), JSON.stringify(file('mine')));
  lab.write('.github/hooks/b.json', JSON.stringify(file('b')));
  lab.write('.github/hooks/a.json', JSON.stringify(file('a')));
  lab.write('.github/hooks/readme.md', 'no hooks');
  const hooks = hooksIn(lab, { discover: ['copilot'], approve: () => true });
  await agentWith(lab, hooks, { script: [says('ok')] }).agent.run('go');

  expect(lab.read('order')).toBe('mine\na\nb\n');
  expect(hooks.status().diagnostics).toEqual([]);
});

test('passes the fields of Visual Studio Code to hooks at events in PascalCase', async () => {
  const events = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'Stop'];
  const hooks = copilotHooks(
    Object.fromEntries([...events, 'SessionEnd'].map((event) => [event, [bash(`cat > ${event}.json`)]])),
  );
  const broken = countingTool('write_file', () => {
    throw new RangeError('leak');
  });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('write_file', {}), calls('run_command', { command: 'ls' }), says('done')],
    tools: [countingTool('run_command').tool, broken.tool],
  });
  const session = await agent.session({ id: 's1' });
  await session.run('go');
  await session.close();
  const named = (event: string) => ({
    ...{ hook_event_name: event, session_id: 's1', timestamp: expect.stringContaining('T'), cwd: lab.workspace },
  });
  const call = { tool_input: { command: 'ls' } };

  expect(given('SessionStart.json')).toMatchObject({ ...named('SessionStart'), source: 'startup' });
  expect(given('UserPromptSubmit.json')).toMatchObject({ ...named('UserPromptSubmit'), prompt: 'go' });
  expect(given('PreToolUse.json')).toMatchObject({ ...named('PreToolUse'), ...call, tool_name: 'Bash' });
  expect(given('PreToolUse.json')).not.toHaveProperty('toolName');
  expect(given('PostToolUse.json')).toMatchObject({
    ...{ ...named('PostToolUse'), ...call, tool_name: 'bash' },
    tool_result: { result_type: 'success', text_result_for_llm: 'done' },
  });
  expect(given('PostToolUseFailure.json')).toMatchObject({ error: expect.stringContaining('leak') });
  expect(given('Stop.json')).toMatchObject({ ...named('Stop'), stop_reason: 'end_turn', stop_hook_active: false });
  expect(given('SessionEnd.json')).toMatchObject({ ...named('SessionEnd'), reason: 'complete' });
  expect(hooks.status().diagnostics).toEqual([]);
});

test.each([
  ['Bash', 1],
  ['bash', 1],
  ['Edit|Bash', 1],
  ['Ba.h', 1],
  ['**', 1],
  ['', 1],
  ['Edit', 0],
  ['Ba', 0],
  ['B', 0],
])('a PreToolUse hook with the matcher "%s" refuses a call of bash %d times', async (matcher, refusals) => {
  const refusal = JSON.stringify({ permissionDecision: 'deny', permissionDecisionReason: 'No.' });
  const hooks = copilotHooks({ PreToolUse: [bash(`echo '${refusal}'`, { matcher })] });
  const { tool, inputs } = countingTool('run_command');
  const { agent } = agentWith(lab, hooks, {
    script: [calls('run_command', { command: 'ls' }), says('ok')],
    tools: [tool, countingTool('write_file').tool],
  });
  await agent.run('go');

  expect(inputs).toHaveLength(1 - refusals);
});

test.each([
  [
    'deny in hookSpecificOutput',
    { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'No.' } },
  ],
  ['continue: false', { continue: false, stopReason: 'No.' }],
])('a PreToolUse hook refuses a call as in Visual Studio Code: %s', async (_title, output) => {
  const guard = bash(`echo '${JSON.stringify(output)}'`);
  const { tool, inputs } = countingTool('run_command');
  const hooks = copilotHooks({ PreToolUse: [guard] });
  const script = [calls('run_command', { command: 'ls' }), says('ok')];
  const said = await agentWith(lab, hooks, { script, tools: [tool] })
    .agent.run('go')
    .then(({ messages }) => JSON.stringify(messages), String);

  expect(inputs).toEqual([]);
  expect(said).toContain('No.');
  expect(hooks.status().diagnostics).toEqual([]);
});

test.each([
  { continue: false, systemMessage: 'No.' },
  { hookSpecificOutput: { permissionDecision: 'deny' }, systemMessage: 'No.' },
])('the reason of a refusal without a reason is the message to the user: %j', async (output) => {
  const notices: string[] = [];
  const onNotice: ShellHooksOptions['onNotice'] = ({ text }) => notices.push(text);
  const hooks = copilotHooks({ PreToolUse: [bash(`echo '${JSON.stringify(output)}'`)] }, { onNotice });
  const script = [calls('run_command', { command: 'ls' }), says('ok')];
  const said = await agentWith(lab, hooks, { script, tools: [countingTool('run_command').tool] })
    .agent.run('go')
    .then(({ messages }) => JSON.stringify(messages), String);

  expect(said).toContain('No.');
  expect(said).not.toContain('no reason was given');
  expect(notices).toEqual(['No.']);
  expect(hooks.status().diagnostics).toEqual([]);
});

test('applies updatedInput and additionalContext of Visual Studio Code', async () => {
  const context = (event: string, more = {}) => [
    bash(`echo '${JSON.stringify({ hookSpecificOutput: { additionalContext: `from ${event}`, ...more } })}'`),
  ];
  const hooks = copilotHooks({
    SessionStart: context('start'),
    PreToolUse: context('pre', { updatedInput: { command: 'pwd' } }),
    PostToolUse: context('post'),
  });
  const { tool, inputs } = countingTool('run_command');
  const script = [calls('run_command', { command: 'ls' }), says('ok')];
  const { agent } = agentWith(lab, hooks, { script, tools: [tool] });
  const session = await agent.session({ id: 's1' });
  const { messages } = await session.run('go');

  expect(inputs).toEqual([{ command: 'pwd' }]);
  const text = JSON.stringify(messages);
  for (const event of ['start', 'pre', 'post']) expect(text).toContain(`from ${event}`);
  expect(hooks.status().diagnostics).toEqual([]);
});

test('ignores fields of Visual Studio Code at events in camelCase, and says so', async () => {
  const output = JSON.stringify({ hookSpecificOutput: { updatedInput: { command: 'pwd' } } });
  const hooks = copilotHooks({ preToolUse: [bash(`echo '${output}'`)] });
  const { tool, inputs } = countingTool('run_command');
  const script = [calls('run_command', { command: 'ls' }), says('ok')];
  await agentWith(lab, hooks, { script, tools: [tool] }).agent.run('go');

  expect(inputs).toEqual([{ command: 'ls' }]);
  expect(hooks.status().diagnostics[0]?.message).toContain('hookSpecificOutput');
});

test('reports unsupported hooks, and reports guards among them as errors', async () => {
  const hooks = copilotHooks({
    pretooluse: [bash('true')],
    userPromptTransformed: [bash('true')],
    preToolUse: [
      { type: 'prompt', prompt: 'Is it safe?' },
      { type: 'command', powershell: './guard.ps1' },
    ],
    postToolUse: [bash('true', { env: { LOG: '$HOME/log' } })],
  });
  await hooks.reload();

  expect(hooks.status().diagnostics.map(({ level, code }) => `${level} ${code}`)).toEqual([
    ...['error event-unsupported', 'warning event-unsupported'],
    ...['error hook-unsupported', 'error hook-unsupported', 'warning env-literal'],
  ]);
  expect(hooks.status().diagnostics[0]?.message).toContain('did you mean `preToolUse`?');
});

test('redacts sensitive arguments inside JSON strings', async () => {
  const hooks = copilotHooks({ preToolUse: [bash('cat > in.json')] }, { sensitive: ['token'] });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('run_command', { token: 'hunter2' }), says('ok')],
    tools: [countingTool('run_command').tool],
  });
  await agent.run('go');

  expect(lab.read('in.json')).not.toContain('hunter2');
  expect(given('in.json').toolArgs).toBe('{"token":"[redacted]"}');
});

test('the model reads the message of a permissionRequest hook that denies', async () => {
  const hooks = copilotHooks({ permissionRequest: [bash(`echo '{"behavior":"deny","message":"Not at night."}'`)] });
  const { agent, model } = agentWith(lab, hooks, {
    script: [calls('run_command', {}), says('ok')],
    tools: [countingTool('run_command').tool],
    lifecycle: [approval({ tools: ['run_command'] })],
  });
  await agent.run('go');

  expect(JSON.stringify(model.requests)).toContain('Not at night.');
  expect(hooks.status().diagnostics).toEqual([]);
});

test.each([
  ['UserPromptSubmit', `echo '{"continue":false,"stopReason":"No."}'`],
  ['UserPromptSubmit', 'echo No. >&2; exit 2'],
])('a %s hook that writes %j refuses the prompt', async (event, text) => {
  const hooks = copilotHooks({ [event]: [bash(text)] });

  await expect(agentWith(lab, hooks, { script: [] }).agent.run('go')).rejects.toThrow('No.');
});

test('hooks at events of sub-agents add context for the sub-agent, and a refusal for its caller', async () => {
  const hooks = copilotHooks({
    subagentStart: [bash(`echo '{"additionalContext":"Look north."}'`)],
    SubagentStop: [bash(`echo '{"hookSpecificOutput":{"decision":"block","reason":"Look again."}}'`)],
    PostToolUse: [bash(`echo '{"decision":"block","reason":"It was long."}'`)],
  });
  const model = scriptedModel([says('Two ships.')]);
  const scout = new Agent({ name: 'scout', model }).asTool({ description: 'Looks.' });
  const caller = agentWith(lab, hooks, { script: [calls('scout', { prompt: 'Look.' }), says('ok')], tools: [scout] });
  await caller.agent.run('go');

  expect(JSON.stringify(model.requests)).toContain('Look north.');
  for (const words of ['Two ships.', 'Look again.', 'It was long.'])
    expect(JSON.stringify(caller.model.requests)).toContain(words);
  expect(hooks.status().diagnostics).toEqual([]);
});

test.each([
  ['denies', `echo '{"behavior":"deny"}'`, 'completed'],
  ['exits with code 2', 'echo no >&2; exit 2', 'completed'],
  ['allows', `echo '{"behavior":"allow"}'`, 'suspended'],
])('a permissionRequest hook that %s with %j leaves the run %s', async (_how, text, status) => {
  const hooks = copilotHooks({ permissionRequest: [bash(text)] });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('run_command', {}), says('ok')],
    tools: [countingTool('run_command').tool],
    lifecycle: [approval({ tools: ['run_command'] })],
  });

  expect((await agent.run('go')).status).toBe(status);
});
