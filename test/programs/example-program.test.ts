import { join } from 'node:path';
import { readMcpConfig } from 'keelson/mcp';
import { calls, says } from 'keelson/testing';
import { expect, onTestFinished, test } from 'vitest';
import { addProgram } from '../../src/programs/list.js';
import { examplecli } from '../fixtures/programs/examplecli.js';
import { agentWith, countingTool, hooksIn, useHookLab } from '../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const toolNames = { examplecli: { run: 'shell' } } as object;
const named = { discover: ['examplecli' as never], approve: () => true, toolNames };

/** Runs one call of the tool `run` under the guards of Example CLI. Returns how often the tool ran. */
async function guarded(hooks: object) {
  onTestFinished(addProgram(examplecli));
  lab.write('.examplecli/guards.json', `// mine\n${JSON.stringify({ hooks })}`);
  const loader = hooksIn(lab, named);
  const { tool, inputs } = countingTool('run');
  const { agent } = agentWith(lab, loader, { script: [calls('run', { line: 'ls' }), says('ok')], tools: [tool] });
  const { messages } = await agent.run('go');
  return {
    ran: inputs.length,
    text: JSON.stringify(messages),
    codes: loader.status().diagnostics.map(({ code }) => code),
  };
}

test('the file of one table is all that a new program needs for its hooks', async () => {
  const guard = { matcher: 'sh', limit: 5, run: 'cat > seen.json; echo \'{"verdict":"HALT","reason":"no shell"}\'' };
  const { ran, text } = await guarded({ 'call.before': [guard] });

  expect(ran).toBe(0);
  expect(text).toContain('no shell');
  expect(JSON.parse(lab.read('seen.json'))).toMatchObject({
    hook_event_name: 'call.before',
    call: { name: 'sh', text: '{"line":"ls"}' },
    where: [lab.workspace],
  });
});

test('an answer of it that no rule describes refuses, since its table does not know better', async () => {
  expect(await guarded({ 'call.before': [{ run: 'echo \'{"verdict":"perhaps"}\'' }] })).toMatchObject({ ran: 0 });
  expect(await guarded({ 'call.before': [{ run: 'echo \'{"verdict":"go"}\'' }] })).toMatchObject({ ran: 1 });
  expect(await guarded({ 'call.before': [{ matcher: 'other', run: 'exit 2' }] })).toMatchObject({ ran: 1 });
});

test('an event of it that does not exist here is reported', async () => {
  expect(await guarded({ 'mind.read': [{ run: 'exit 2' }] })).toMatchObject({ ran: 1, codes: ['event-unsupported'] });
});

test('its servers are read by the same file', async () => {
  onTestFinished(addProgram(examplecli));
  const servers = { a: { command: 'x', vars: { A: 1 }, timeout: 5 }, b: { command: 'x' } };
  lab.write('.examplecli/servers.json', JSON.stringify({ tools: { remote: servers, off: ['b'] } }));
  const entries = await readMcpConfig(join(lab.workspace, '.examplecli/servers.json'), { scope: 'builtin' });

  expect(entries).toMatchObject([
    { name: 'a', definition: { env: { A: '1' }, callTimeoutMs: 5_000 } },
    { name: 'b', definition: { disabled: true } },
  ]);
});
