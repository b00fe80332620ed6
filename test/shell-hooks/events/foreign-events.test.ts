import { approval, compaction } from 'keelson/lifecycles';
import { calls, says } from 'keelson/testing';
import { expect, test } from 'vitest';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
import { agentWith, countingTool, recorded, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();
const record = (more = '') => command(`line=$(cat); printf '%s\\n' "$line" >> events.jsonl${more}`, { timeout: 30 });
const denial = '{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"not today"}}}';

/** Runs an agent whose tool `pay` needs the approval that `ask` gives. */
async function pay(hooks: ReturnType<typeof claudeHooks>, ask?: () => 'approve' | { deny: string }) {
  const { tool, inputs } = countingTool('pay');
  const { agent } = agentWith(lab, hooks, {
    script: [calls('pay', { to: 'Ada' }), says('ok')],
    tools: [tool],
    lifecycle: [approval({ tools: ['pay'], ask })],
  });
  const { status, messages } = await agent.run('go');
  await agent.close();
  return { status, paid: inputs.length, text: JSON.stringify(messages) };
}

test.each([
  ['an answer that denies', `; echo '${denial}'`],
  ['exit code 2', '; echo "not today" >&2; exit 2'],
])('PermissionRequest refuses a call by %s before a person is asked', async (_how, more) => {
  const hooks = claudeHooks(lab, { PermissionRequest: [{ matcher: 'pay', ...record(more) }] });
  const { status, paid, text } = await pay(hooks, () => expect.unreachable('nobody is asked'));

  expect([status, paid]).toEqual(['completed', 0]);
  expect(text).toContain('not today');
  expect(recorded(lab)).toMatchObject([
    { hook_event_name: 'PermissionRequest', tool_name: 'pay', tool_input: { to: 'Ada' } },
  ]);
});

test('PermissionRequest cannot approve in place of a person, and its matcher selects tools', async () => {
  const allow = record(`; echo '${denial.replace('deny', 'allow')}'`);
  const hooks = claudeHooks(lab, {
    PermissionRequest: [
      { matcher: 'pay', ...allow },
      { matcher: 'erase', ...command('exit 2') },
    ],
  });

  expect(await pay(hooks)).toMatchObject({ status: 'suspended', paid: 0 });
  expect(await pay(claudeHooks(lab, { PermissionRequest: [allow] }), () => 'approve')).toMatchObject({ paid: 1 });
});

test('PermissionDenied is told about a call that a person denies', async () => {
  const hooks = claudeHooks(lab, { PermissionDenied: [record('; exit 2')] });
  const { paid } = await pay(hooks, () => ({ deny: 'too much' }));

  expect(paid).toBe(0);
  expect(recorded(lab)).toMatchObject([{ hook_event_name: 'PermissionDenied', tool_name: 'pay', reason: 'too much' }]);
});

test('PostToolBatch runs once for all calls of a turn, and can end the run', async () => {
  const { tool } = countingTool('look');
  const turn = calls({ name: 'look', input: { at: 1 } }, { name: 'look', input: { at: 2 } });
  const run = async (more: string) => {
    const hooks = claudeHooks(lab, { PostToolBatch: [record(more)] });
    const { agent, model } = agentWith(lab, hooks, { script: [turn, says('ok')], tools: [tool] });
    const outcome = await agent.run('go').then(
      ({ status }) => status,
      ({ code }) => code,
    );
    return { outcome, requests: model.requests.length };
  };

  expect(await run('')).toEqual({ outcome: 'completed', requests: 2 });
  expect(await run(`; echo '{"decision":"block","reason":"stop here"}'`)).toMatchObject({ requests: 1 });
  expect(recorded(lab)).toMatchObject([
    { hook_event_name: 'PostToolBatch', tool_calls: [{ tool_input: { at: 1 } }, { tool_input: { at: 2 } }] },
    { hook_event_name: 'PostToolBatch' },
  ]);
});

test('StopFailure is told about a failed run, and not about an aborted one', async () => {
  const hooks = claudeHooks(lab, { StopFailure: [record()] });
  const { agent } = agentWith(lab, hooks, { script: [] });
  await expect(agent.run('go')).rejects.toThrow();
  await expect(agent.run('go', { signal: AbortSignal.abort() })).rejects.toThrow();

  expect(recorded(lab)).toMatchObject([{ hook_event_name: 'StopFailure', error: expect.any(String) }]);
});

test('PostCompact is told about a summary', async () => {
  const hooks = claudeHooks(lab, { PostCompact: [{ matcher: 'auto', ...record('; exit 2') }] });
  const { tool } = countingTool('look', () => 'x'.repeat(500));
  const { agent } = agentWith(lab, hooks, {
    script: [...Array.from({ length: 6 }, () => calls('look', {})), says('done')],
    tools: [tool],
    lifecycle: [compaction({ maxMessages: 6, keep: 2, summarize: () => 'A summary.' })],
  });
  const { status } = await agent.run('go');
  await agent.close();

  expect(status).toBe('completed');
  expect(recorded(lab)[0]).toMatchObject({ hook_event_name: 'PostCompact', trigger: 'auto' });
});

test('Elicitation is reported as a guard that does not run, with the reason', async () => {
  const hooks = claudeHooks(lab, { Elicitation: [command('exit 2')] });
  await hooks.reload();

  expect(hooks.status().diagnostics).toMatchObject([
    { level: 'error', code: 'event-unsupported', message: expect.stringContaining('the option `elicit`') },
  ]);
});

test.each([
  [2, 3],
  [0, 1],
  [undefined, 9],
])('Stop hooks add at most %s turns', async (maxContinuations, requests) => {
  const hooks = claudeHooks(lab, { Stop: [command('echo again >&2; exit 2')] }, { maxContinuations });
  const script = Array.from({ length: 12 }, (_, at) => says(`answer ${at}`));
  const { agent, model } = agentWith(lab, hooks, { script });
  await agent.run('go');

  expect(model.requests.length).toBe(requests);
});
