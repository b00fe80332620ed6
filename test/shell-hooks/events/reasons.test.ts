import { type AgentLifecycle, defineTool, HookAction } from 'keelson';
import type { HookDialect } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { agentWith, answers, hooksIn, recorded, records, sh, useHookLab } from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ at: z.string() }),
  execute: ({ at }) => `a boat at the ${at}`,
});

describe('the reason of a refusal without a `reason`', () => {
  const outputs: readonly (readonly [HookDialect, object])[] = [
    ['claude', { continue: false, systemMessage: 'Not at night.' }],
    ['claude', { decision: 'block', systemMessage: 'Not at night.' }],
    ['claude', { hookSpecificOutput: { permissionDecision: 'deny' }, systemMessage: 'Not at night.' }],
    ['codex', { continue: false, systemMessage: 'Not at night.' }],
    ['gemini', { continue: false, systemMessage: 'Not at night.' }],
    ['gemini', { decision: 'deny', systemMessage: 'Not at night.' }],
  ];

  test.each(outputs)('is the message to the user: %s %j', async (dialect, output) => {
    const hook = { ...answers('before_tool', output), dialect };
    const notices: string[] = [];
    const hooks = hooksIn(lab, { hooks: [hook], onNotice: ({ text }) => notices.push(text) });
    const script = [calls('look', { at: 'pier' }), says('Done.')];
    const { agent } = agentWith(lab, hooks, { script, tools: [look] });
    const shown = await agent.run('go').then(
      ({ messages, text }) => JSON.stringify([messages, text]),
      (error: Error) => error.message,
    );

    expect(shown).toContain('Not at night.');
    expect(shown).not.toContain('no reason was given');
    expect(notices).toContain('Not at night.');
  });
});

/** The reasons that the model, the caller and the user read if a `look` is refused. */
async function reasonsOf(hook: object): Promise<string> {
  const said: string[] = [];
  const hooks = hooksIn(lab, { hooks: [hook as never], onNotice: ({ text }) => said.push(text) });
  const script = [calls('look', { at: 'pier' }), says('Done.')];
  const { agent } = agentWith(lab, hooks, { script, tools: [look] });
  const shown = await agent.run('go').then(
    ({ messages }) => JSON.stringify(messages.filter(({ role }) => role === 'tool')),
    (error: Error) => error.message,
  );
  return shown + said.join('');
}

describe('the reason of a refusal arrives', () => {
  const pascal = { dialect: 'copilot', dialectEvent: 'PreToolUse' };
  const camel = { dialect: 'copilot', dialectEvent: 'preToolUse' };
  const fields: readonly (readonly [object, object])[] = [
    [{}, { continue: false, stopReason: 'At night.' }],
    [{}, { continue: false, reason: ' ', systemMessage: 'At night.' }],
    [{ dialect: 'claude' }, { decision: 'block', stopReason: 'At night.' }],
    [{ dialect: 'claude' }, { hookSpecificOutput: { permissionDecision: 'deny' }, reason: 'At night.' }],
    [{ dialect: 'claude' }, { hookSpecificOutput: { permissionDecision: 'deny', reason: 'At night.' } }],
    [{ dialect: 'codex' }, { decision: 'block', stopReason: 'At night.' }],
    [{ dialect: 'gemini' }, { decision: 'block', stopReason: 'At night.' }],
    [
      { dialect: 'cursor', dialectEvent: 'preToolUse' },
      { permission: 'deny', reason: 'At night.' },
    ],
    [camel, { permissionDecision: 'deny', reason: 'At night.' }],
    [pascal, { continue: false, reason: 'At night.' }],
    [pascal, { hookSpecificOutput: { permissionDecision: 'deny', reason: 'At night.' } }],
  ];

  test.each(fields)('from any field of a reason: %j %j', async (more, output) => {
    const reasons = await reasonsOf({ ...answers('before_tool', output), ...more });

    expect(reasons).toContain('At night.');
    expect(reasons).not.toContain('no reason was given');
  });

  const printed = [{ exitCodes: true }, { dialect: 'claude' }, { dialect: 'codex' }, { dialect: 'gemini' }]
    .concat([{ dialect: 'cursor', dialectEvent: 'preToolUse' } as never, camel as never])
    .flatMap((more) => ['At night.', '{"reason":"At night."}'].map((text) => [more, text] as const));

  test.each(printed)('from standard output with exit code 2, if standard error is empty: %j %j', async (more, text) => {
    const reasons = await reasonsOf({ ...sh('before_tool', `printf '%s' '${text}'; exit 2`), ...more });

    expect(reasons).toContain('by hook \\"before_tool-hook\\": At night.');
  });

  test('from standard error before standard output, with exit code 2', async () => {
    const text = `echo '{"permissionDecision":"deny"}'; echo 'At night.' >&2; exit 2`;

    expect(await reasonsOf({ ...sh('before_tool', text), ...camel })).toContain('At night.');
  });
});

describe('after_tool hooks', () => {
  const refuse = { wrapToolCall: () => ({ content: 'no' }) };
  const suspend = { wrapToolCall: () => HookAction.suspend('ask first') };
  const none: AgentLifecycle = {};
  const unreached: readonly (readonly [string, unknown, AgentLifecycle])[] = [
    ['invalid arguments', { at: 5 }, none],
    ['a call that an inner wrap refused', { at: 'pier' }, { ...refuse, priority: 100 }],
    ['a call that an outer wrap refused', { at: 'pier' }, { ...refuse, priority: 0 }],
    ['a call that an inner wrap suspended', { at: 'pier' }, { ...suspend, priority: 100 }],
    ['a call that an outer wrap suspended', { at: 'pier' }, { ...suspend, priority: 0 }],
  ];

  test.each(unreached)('do not run for %s', async (_what, input, lifecycle) => {
    const hooks = hooksIn(lab, { hooks: [records('after_tool')] });
    const script = [calls('look', input), says('Done.')];
    await agentWith(lab, hooks, { script, tools: [look], lifecycle: [lifecycle] }).agent.run('go');

    expect(recorded(lab)).toEqual([]);
  });

  test('do not run for an unknown tool', async () => {
    const hooks = hooksIn(lab, { hooks: [records('after_tool')] });
    await agentWith(lab, hooks, { script: [calls('look', {}), says('Done.')], tools: [] }).agent.run('go');

    expect(recorded(lab)).toEqual([]);
  });

  test('run for a tool that ran and failed', async () => {
    const broken = defineTool({
      name: 'look',
      description: 'Fails.',
      input: z.object({}),
      execute: () => {
        throw new RangeError('fog');
      },
    });
    const hooks = hooksIn(lab, { hooks: [records('after_tool')] });
    await agentWith(lab, hooks, { script: [calls('look', {}), says('Done.')], tools: [broken] }).agent.run('go');

    expect(recorded(lab)).toHaveLength(1);
  });
});

test('two hooks with one name both keep their output', async () => {
  const hooks = [1, 2].map((number) => answers('before_tool', { data: { number } }, { name: 'guard' }));
  const { runner } = hooksIn(lab, { hooks });
  const { outputs, outcomes } = await runner.run('before_tool', { tool_name: 'look', args: {} });

  expect(outcomes.map(({ hook }) => hook)).toEqual(['guard', 'guard']);
  expect(outputs).toEqual({ guard: { number: 1 }, 'guard#2': { number: 2 } });
});
