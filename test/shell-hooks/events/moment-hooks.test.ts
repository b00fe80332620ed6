import { Agent, defineTool } from 'keelson';
import { approval, compaction } from 'keelson/lifecycles';
import { calls, says, scriptedModel } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { claudeHooks, command } from '../../support/shell-hooks/claude-file.js';
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
const record = (more = '') => command(`line=$(cat); printf '%s\\n' "$line" >> events.jsonl${more}`, { timeout: 30 });
const on = (event: string, more?: string, matcher?: string) => ({
  [event]: [{ ...record(more), ...(matcher && { matcher }) }],
});

describe('Notification', () => {
  test.each([
    ['a person is asked at once', () => 'approve' as const],
    ['the run is suspended', undefined],
  ])('fires when %s for approval, and decides nothing', async (_when, ask) => {
    const hooks = claudeHooks(lab, on('Notification', '; echo no >&2; exit 2'));
    const { tool, inputs } = countingTool('pay');
    const lifecycle = [approval({ tools: ['pay'], ask })];
    const { agent } = agentWith(lab, hooks, {
      script: [calls('pay', { to: 'Ada' }), says('ok')],
      tools: [tool],
      lifecycle,
    });
    const { status } = await agent.run('go');

    await expect
      .poll(() => recorded(lab))
      .toMatchObject([
        {
          ...{
            hook_event_name: 'Notification',
            notification_type: 'permission_prompt',
            message: '"pay" needs approval.',
          },
          data: { tool_name: 'pay' },
        },
      ]);
    expect([status, inputs.length]).toEqual(ask ? ['completed', 1] : ['suspended', 0]);
  });

  test('fires when a hook asks, and its matcher selects the kind of notification', async () => {
    const asks = command(
      `echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"Sure?"}}'`,
    );
    const hooks = claudeHooks(lab, {
      PreToolUse: [asks],
      Notification: [
        { matcher: 'idle_prompt', ...record(' && false') },
        { matcher: 'permission_prompt', ...record() },
      ],
    });
    const { tool } = countingTool('pay');
    const { agent } = agentWith(lab, hooks, { script: [calls('pay', {}), says('ok')], tools: [tool] });
    await agent.run('go');

    await expect.poll(() => recorded(lab)).toMatchObject([{ message: 'Sure?' }]);
  });

  test('does not fire for a call that needs no approval', async () => {
    const hooks = claudeHooks(lab, on('Notification'));
    const { tool } = countingTool('look');
    const lifecycle = [approval({ tools: ['pay'], optional: true })];
    const { agent } = agentWith(lab, hooks, { script: [calls('look', {}), says('ok')], tools: [tool], lifecycle });
    await agent.run('go');

    expect(recorded(lab)).toEqual([]);
  });
});

describe('SubagentStop', () => {
  const subagent = (name: string) =>
    new Agent({ name, model: scriptedModel(() => 'Two ships.') }).asTool({ description: 'Counts ships.' });

  test('fires when an agent that is a tool has ended, and the caller reads the reason of a refusal', async () => {
    const block = `; echo '{"decision":"block","reason":"Count again."}'`;
    const hooks = claudeHooks(lab, on('SubagentStop', block, 'counter'));
    const { tool } = countingTool('look');
    const script = [
      calls(
        { name: 'counter', input: { prompt: 'a' } },
        { name: 'other', input: { prompt: 'b' } },
        { name: 'look', input: {} },
      ),
      says('ok'),
    ];
    const { agent, model } = agentWith(lab, hooks, { script, tools: [subagent('counter'), subagent('other'), tool] });
    await agent.run('go');

    expect(recorded(lab)).toMatchObject([
      {
        ...{ hook_event_name: 'SubagentStop', agent_type: 'counter', last_assistant_message: 'Two ships.' },
        ...{ stop_hook_active: false, agent_id: expect.any(String) },
      },
    ]);
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('Count again.');
  });
});

describe('after_subagent', () => {
  const counter = (reply = 'Two ships.') =>
    new Agent({ name: 'counter', model: scriptedModel(() => reply) }).asTool({ description: 'Counts ships.' });
  const script = [calls('counter', { prompt: 'a' }), says('ok')];
  const resultOf = (model: { requests: readonly { messages: readonly unknown[] }[] }) =>
    JSON.stringify(model.requests[1]?.messages.slice(2));

  test.each([
    ['writes `continue: false`', answers('after_subagent', { continue: false, reason: 'Wrong.' }), 'Wrong.'],
    ['fails and has `onFailure: "block"`', sh('after_subagent', 'exit 3', { onFailure: 'block' }), 'failed'],
  ])('withholds the answer of the sub-agent if a hook %s, and the run goes on', async (_when, hook, reason) => {
    const { agent, model } = agentWith(lab, hooksIn(lab, { hooks: [hook] }), { script, tools: [counter()] });
    const { text } = await agent.run('go');

    expect(text).toBe('ok');
    expect(resultOf(model)).toContain('The result was withheld by hook \\"after_subagent-hook\\"');
    expect(resultOf(model)).toContain(reason);
    expect(resultOf(model)).not.toContain('Two ships.');
  });

  test('passes the answer on if a hook fails without `onFailure: "block"`', async () => {
    const hooks = hooksIn(lab, { hooks: [sh('after_subagent', 'exit 3')] });
    const { agent, model } = agentWith(lab, hooks, { script, tools: [counter()] });
    await agent.run('go');

    expect(resultOf(model)).toContain('Two ships.');
  });

  test('ends the run if a hook of Claude Code writes `continue: false`', async () => {
    const stop = command(`echo '{"continue":false,"stopReason":"Enough."}'`);
    const { agent, model } = agentWith(lab, claudeHooks(lab, { SubagentStop: [stop] }), { script, tools: [counter()] });

    await expect(agent.run('go')).rejects.toMatchObject({ code: 'ERR_RUN_REJECTED', reason: 'Enough.' });
    expect(model.requests).toHaveLength(1);
  });
});

test('a cancellation of `notification` is only logged', async () => {
  const hooks = hooksIn(lab, { hooks: [answers('notification', { continue: false, reason: 'Never.' })] });
  const { tool, inputs } = countingTool('pay');
  const lifecycle = [approval({ tools: ['pay'], ask: () => 'approve' })];
  const { agent } = agentWith(lab, hooks, { script: [calls('pay', {}), says('ok')], tools: [tool], lifecycle });
  await agent.run('go');

  expect(inputs).toHaveLength(1);
  await expect
    .poll(() => lab.logged('warn').map(({ message }) => message))
    .toEqual([expect.stringContaining('cancelled notification')]);
});

describe('PreCompact', () => {
  const look = defineTool({
    name: 'look',
    description: 'x',
    input: { type: 'object' },
    execute: () => 'x'.repeat(500),
  });
  const script = [...Array.from({ length: 6 }, () => calls('look', {})), says('done')];
  const lifecycle = () => [compaction({ maxMessages: 6, keep: 2, summarize: () => 'A summary.' })];

  test('fires before the conversation is summarised', async () => {
    const hooks = claudeHooks(lab, on('PreCompact', '', 'auto'));
    const { agent, model } = agentWith(lab, hooks, { script, tools: [look], lifecycle: lifecycle() });
    await agent.run('go');

    expect(recorded(lab)[0]).toMatchObject({ hook_event_name: 'PreCompact', trigger: 'auto', custom_instructions: '' });
    expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain('A summary.');
  });

  test('with exit code 2 prevents the summary', async () => {
    const hooks = claudeHooks(lab, on('PreCompact', '; echo keep >&2; exit 2'));
    const { agent, model } = agentWith(lab, hooks, { script, tools: [look], lifecycle: lifecycle() });
    await agent.run('go');

    expect(recorded(lab).length).toBeGreaterThan(0);
    expect(JSON.stringify(model.requests)).not.toContain('A summary.');
  });
});

test('native hooks have the same events', async () => {
  const events = ['notification', 'after_subagent', 'before_compaction'] as const;
  const hooks = hooksIn(lab, { hooks: events.map((event) => records(event)) });
  await hooks.runner.run('notification', { message: 'Sure?' });
  await hooks.runner.run('after_subagent', { agent: 'counter', response: 'Two ships.' });
  await hooks.runner.run('before_compaction', {});

  expect(recorded(lab).map(({ event }) => event)).toEqual(events);
  expect(recorded(lab)[1]).toMatchObject({ agent_type: 'counter', data: { response: 'Two ships.' } });
  await expect(hooks.runner.run('notification', {} as never)).rejects.toMatchObject({ code: 'ERR_HOOK_EVENT_INVALID' });
});
