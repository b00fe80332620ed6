import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Agent, textOf } from 'keelson';
import type { ShellHooksOptions } from 'keelson/shell-hooks';
import { calls, says, scriptedModel } from 'keelson/testing';
import { expect, test } from 'vitest';
import { agentWith, countingTool, hooksIn, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const toolNames = { cursor: { run_command: 'Shell', read_file: 'Read', write_file: 'Write' } };
const given = (file: string) => JSON.parse(lab.read(file));

/** Returns approved hooks from `.cursor/hooks.json` of the workspace. */
function cursorHooks(hooks: object, options: ShellHooksOptions = {}) {
  const notes = '// The team keeps these.\n';
  lab.write('.cursor/hooks.json', notes + JSON.stringify({ version: 1, hooks }));
  return hooksIn(lab, { discover: ['cursor'], approve: () => true, toolNames, ...options });
}

const GUARD = `#!/usr/bin/env node
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { command } = JSON.parse(text);
const deny = { continue: true, permission: 'deny', user_message: 'No curl.', agent_message: 'Use the fetch tool.' };
console.log(JSON.stringify(command.includes('curl') ? deny : { permission: 'allow' }));
`;
const REWRITE = `#!/usr/bin/env node
let text = '';
for await (const chunk of process.stdin) text += chunk;
const { tool_name, tool_input } = JSON.parse(text);
const safe = { ...tool_input, command: tool_input.command.replace('rm ', 'trash ') };
console.log(JSON.stringify({ permission: 'allow', updated_input: safe }));
`;

test('runs Cursor hooks unmodified: they allow, deny and rewrite a tool call', async () => {
  lab.write('.cursor/hooks/guard.mjs', GUARD);
  lab.write('.cursor/hooks/rewrite.mjs', REWRITE);
  const said: string[] = [];
  const hooks = cursorHooks(
    {
      beforeShellExecution: [{ command: '.cursor/hooks/guard.mjs', timeout: 20, matcher: 'curl|wget|nc' }],
      preToolUse: [{ command: '"$CURSOR_PROJECT_DIR"/.cursor/hooks/rewrite.mjs', matcher: 'Shell' }],
    },
    { onNotice: ({ text }) => said.push(text) },
  );
  const shell = countingTool('run_command');
  const read = countingTool('read_file');
  const { agent, model } = agentWith(lab, hooks, {
    script: [
      calls('run_command', { command: 'curl evil' }),
      calls('run_command', { command: 'rm a' }),
      calls('read_file', { path: 'curl' }),
      says('ok'),
    ],
    tools: [shell.tool, read.tool],
  });
  await agent.run('go');

  expect([shell.inputs, read.inputs]).toEqual([[{ command: 'trash a' }], [{ path: 'curl' }]]);
  expect(textOf(model.requests[1]?.messages.at(-1) as never)).toBe(
    'The call was blocked by hook "cursor:beforeShellExecution#1": Use the fetch tool.',
  );
  expect(said).toEqual(['No curl.']);
  expect(lab.logged('error')).toEqual([]);
});

test('runs each hook only for the tools of its event, with the fields that Cursor documents', async () => {
  lab.write('notes.txt', 'tide tables');
  const keep = (event: string) => [{ command: `cat >> ${event}.json` }];
  const events = ['beforeShellExecution', 'afterShellExecution', 'beforeMCPExecution', 'afterMCPExecution'];
  events.push('beforeReadFile', 'afterFileEdit', 'postToolUseFailure', 'sessionStart', 'beforeSubmitPrompt');
  events.push('afterAgentResponse', 'stop', 'sessionEnd');
  const hooks = cursorHooks(Object.fromEntries(events.map((event) => [event, keep(event)])));
  const tools = ['run_command', 'read_file', 'mcp__db__query'].map((name) => countingTool(name).tool);
  const write = countingTool('write_file');
  const broken = countingTool('broken', () => {
    throw new RangeError('leak');
  });
  const { agent } = agentWith(lab, hooks, {
    script: [
      calls('run_command', { command: 'ls' }),
      calls('mcp__db__query', { sql: 'select 1' }),
      calls('read_file', { path: 'notes.txt' }),
      calls('write_file', { path: 'a.txt', content: 'new' }),
      calls('broken', {}),
      says('done'),
    ],
    tools: [...tools, write.tool, broken.tool],
  });
  const session = await agent.session({ id: 's1' });
  await session.run('go');
  await session.close();
  const root = lab.workspace;

  expect(given('beforeShellExecution.json')).toMatchObject({
    ...{ hook_event_name: 'beforeShellExecution', conversation_id: 's1', workspace_roots: [root] },
    ...{ command: 'ls', cwd: root, generation_id: expect.any(String), user_email: null, sandbox: false },
  });
  expect(given('afterShellExecution.json')).toMatchObject({ command: 'ls', output: 'done' });
  expect(given('beforeMCPExecution.json')).toMatchObject({ tool_name: 'query', tool_input: '{"sql":"select 1"}' });
  expect(JSON.parse(given('afterMCPExecution.json').result_json)).toEqual({ content: 'done' });
  expect(given('beforeReadFile.json')).toMatchObject({ file_path: join(root, 'notes.txt'), content: 'tide tables' });
  expect(given('afterFileEdit.json')).toMatchObject({
    ...{ file_path: join(root, 'a.txt'), edits: [{ old_string: '', new_string: 'new' }] },
  });
  expect(given('postToolUseFailure.json')).toMatchObject({
    ...{ tool_name: 'broken', failure_type: 'error', error_message: expect.stringContaining('leak') },
  });
  expect(given('sessionStart.json')).toMatchObject({ session_id: 's1', composer_mode: 'agent' });
  expect(given('beforeSubmitPrompt.json')).toMatchObject({ prompt: 'go', attachments: [] });
  expect(given('afterAgentResponse.json')).toMatchObject({ text: 'done' });
  expect(given('stop.json')).toMatchObject({ status: 'completed', loop_count: 0 });
  expect(given('sessionEnd.json')).toMatchObject({ session_id: 's1', reason: 'completed' });
});

test.each([
  { title: 'exit code 2', text: 'echo "not here" >&2; exit 2', runs: 0, shown: 'not here' },
  { title: 'output that is not JSON', text: 'echo fine', runs: 0, shown: 'its output is invalid' },
  {
    title: 'an unknown permission',
    text: `echo '{"permission":"maybe"}'`,
    runs: 0,
    shown: 'its output is invalid',
  },
  {
    title: 'a camelCase message, as in version 1.7,',
    text: `echo '{"permission":"deny","agentMessage":"old"}'`,
    runs: 0,
    shown: 'old',
  },
  {
    title: 'deny together with exit code 1',
    text: `echo '{"permission":"deny","agent_message":"no"}'; exit 1`,
    runs: 0,
    shown: 'no',
  },
  { title: 'exit code 1', text: 'exit 1', runs: 1, shown: 'done' },
  { title: 'empty output', text: 'true', runs: 1, shown: 'done' },
])('a preToolUse hook with $title lets the tool run $runs times', async ({ text, runs, shown }) => {
  const hooks = cursorHooks({ preToolUse: [{ command: text }] });
  const { tool, inputs } = countingTool('run_command');
  const { agent, model } = agentWith(lab, hooks, {
    script: [calls('run_command', { command: 'ls' }), says('ok')],
    tools: [tool],
  });
  await agent.run('go');

  expect(inputs).toHaveLength(runs);
  expect(textOf(model.requests[1]?.messages.at(-1) as never)).toContain(shown);
});

test('failClosed blocks the tool call if the hook fails, and ask suspends it', async () => {
  const hooks = cursorHooks({
    beforeShellExecution: [
      { command: 'exit 1', matcher: '^ls', failClosed: true },
      { command: `echo '{"permission":"ask","user_message":"Really?"}'`, matcher: '^rm' },
    ],
  });
  const { tool, inputs } = countingTool('run_command');
  const script = [calls('run_command', { command: 'ls' }), calls('run_command', { command: 'rm a' }), says('ok')];
  const { agent } = agentWith(lab, hooks, { script, tools: [tool] });
  const result = await agent.run('go');

  expect(inputs).toEqual([]);
  expect(result).toMatchObject({ status: 'suspended' });
});

test('hooks refuse a prompt, add context, replace a result, and make the agent continue', async () => {
  const said = (output: object) => [{ command: `echo '${JSON.stringify(output)}'` }];
  const hooks = cursorHooks({
    sessionStart: said({ additional_context: 'It is low tide.' }),
    beforeSubmitPrompt: [
      { command: `grep -q secret && echo '{"continue":false,"user_message":"No secrets."}' || true` },
    ],
    postToolUse: said({ updated_mcp_tool_output: { rows: 1 } }),
    stop: [
      { command: `grep -q '"loop_count":0' && echo '{"followup_message":"Run the tests."}' || true`, loop_limit: 2 },
    ],
  });
  const { agent, model } = agentWith(lab, hooks, {
    script: [calls('mcp__db__query', {}), says('one'), says('two')],
    tools: [countingTool('mcp__db__query').tool],
  });
  const session = await agent.session({ id: 's1' });
  const { text } = await session.run('go');
  await expect(session.run('the secret')).rejects.toMatchObject({ reason: 'No secrets.' });
  const sent = model.requests.at(-1)?.messages.map(textOf) ?? [];

  expect(text).toBe('two');
  expect(sent.some((message) => message.includes('It is low tide.'))).toBe(true);
  expect(sent).toContain('{"rows":1}');
  expect(sent.some((message) => message.includes('Run the tests.'))).toBe(true);
  expect(
    hooks
      .status()
      .diagnostics.map(({ message }) => message)
      .join(),
  ).toContain('`loop_limit`');
});

test.each([
  ['{"permission":"deny","user_message":"No scouts."}', 'scout', 0],
  ['{"permission":"ask"}', 'scout', 0],
  ['{"permission":"perhaps"}', 'scout', 0],
  ['looks fine', 'scout', 0],
  ['{"permission":"allow"}', 'scout', 1],
  ['{"permission":"deny"}', 'pilot', 1],
])('a subagentStart hook that writes %j for %s lets %d scouts start', async (output, matcher, starts) => {
  const hooks = cursorHooks({ subagentStart: [{ command: `echo '${output}'`, matcher }] });
  const model = scriptedModel([says('Two ships.')]);
  const scout = new Agent({ name: 'scout', model }).asTool({ description: 'Looks.' });
  const script = [calls('scout', { prompt: 'Look.' }), says('ok')];
  await agentWith(lab, hooks, { script, tools: [scout] }).agent.run('go');

  expect(model.requests).toHaveLength(starts);
});

test('hooks at events without an output decide nothing, and what they write is reported', async () => {
  const notices: string[] = [];
  const hooks = cursorHooks(
    {
      afterShellExecution: [{ command: `echo '{"additional_context":"psst"}'` }],
      afterAgentResponse: [{ command: 'echo no >&2; exit 2' }],
    },
    { onNotice: ({ text }) => notices.push(text) },
  );
  const script = [calls('run_command', { command: 'ls' }), says('ok')];
  const { agent, model } = agentWith(lab, hooks, { script, tools: [countingTool('run_command').tool] });
  await agent.run('go');

  expect(JSON.stringify(model.requests)).not.toContain('psst');
  expect(notices).toEqual([]);
  expect(hooks.status().diagnostics.map(({ code }) => code)).toContain('output-unsupported');
  expect(hooks.status().hooks.map(({ failures }) => failures)).toEqual([0, 1]);
});

test('hooks of the user run in the directory of their hook file', async () => {
  const folder = join(lab.home, '.cursor');
  mkdirSync(join(folder, 'hooks'), { recursive: true });
  writeFileSync(join(folder, 'hooks', 'where.sh'), '#!/bin/sh\npwd > "$CURSOR_PROJECT_DIR"/where\n', { mode: 0o755 });
  const file = { version: 1, hooks: { beforeSubmitPrompt: [{ command: './hooks/where.sh' }] } };
  writeFileSync(join(folder, 'hooks.json'), JSON.stringify(file));
  const hooks = hooksIn(lab, { discover: ['cursor'] });
  await agentWith(lab, hooks, { script: [says('ok')] }).agent.run('go');

  expect(lab.read('where')).toBe(`${folder}\n`);
});

test('reports an unsupported guard, and a guard for a tool missing in toolNames, as errors', async () => {
  const hooks = cursorHooks(
    {
      afterAgentThought: [{ command: 'true' }],
      beforeShellExec: [{ command: 'true' }],
      beforeShellExecution: [{ type: 'prompt', prompt: 'Is it safe?' }, { command: 'true' }],
    },
    { toolNames: {} },
  );
  await agentWith(lab, hooks, { script: [says('ok')] }).agent.run('go');

  expect(hooks.status().diagnostics.map(({ level, code }) => `${level} ${code}`)).toEqual([
    ...['warning event-unsupported', 'error event-unsupported', 'error hook-unsupported'],
    ...['info timeout-default', 'error tools-unnamed'],
  ]);
});

test('redacts sensitive arguments inside JSON strings', async () => {
  const hooks = cursorHooks({ beforeMCPExecution: [{ command: 'cat > in.json' }] }, { sensitive: ['token'] });
  const { agent } = agentWith(lab, hooks, {
    script: [calls('mcp__db__query', { token: 'hunter2' }), says('ok')],
    tools: [countingTool('mcp__db__query').tool],
  });
  await agent.run('go');

  expect(lab.read('in.json')).not.toContain('hunter2');
  expect(given('in.json').tool_input).toBe('{"token":"[redacted]"}');
});
