import type { HookDialect, ShellHooksOptions } from 'keelson/shell-hooks';
import { calls, says } from 'keelson/testing';
import { describe, expect, test } from 'vitest';
import {
  agentWith,
  answers,
  countingTool,
  hooksIn,
  runOnce,
  sh,
  useHookLab,
} from '../../support/shell-hooks/hook-lab.js';

const lab = useHookLab();

const why = 'not here';
const UNREAD = 'its output contains a refusal, but is not one JSON object';
const specific = { permissionDecision: 'deny', permissionDecisionReason: why };
const REFUSALS: readonly (readonly [HookDialect, object])[] = [
  ['native', { continue: false, reason: why }],
  ['claude', { hookSpecificOutput: specific }],
  ['codex', { decision: 'block', reason: why }],
  ['gemini', { decision: 'deny', reason: why }],
  ['cursor', { permission: 'deny', agent_message: why }],
  ['copilot', specific],
];
const PLACES: readonly (readonly [string, (refusal: string) => string])[] = [
  ['before a line', (refusal) => `${refusal}\nlog line`],
  ['before another object', (refusal) => `${refusal}\n{}`],
  ['after a line', (refusal) => `log { line\n${refusal}`],
  ['on a line with other text', (refusal) => `checked: ${refusal} done`],
  ['over several lines, between lines', (refusal) => `log\n${JSON.stringify(JSON.parse(refusal), null, 2)}\nmore`],
  ['in an array', (refusal) => `[${refusal}]`],
  ['without its last bracket', (refusal) => refusal.slice(0, -1)],
  ['in the strings of a log', (refusal) => `log ${JSON.stringify(refusal)}`],
  ['escaped three times', (refusal) => `log ${[1, 2, 3].reduce((text) => JSON.stringify(text), refusal)}`],
  ['without quotation marks', (refusal) => `log ${refusal.replaceAll('"', '')}`],
  ['with many blanks', (refusal) => `log\n${refusal.replaceAll(':', ' '.repeat(9).concat(':', ' '.repeat(99)))}`],
  ['with values on lines of their own', (refusal) => `log\n${refusal.replaceAll(':', `:\n${' '.repeat(12)}`)}`],
];
const CASES = REFUSALS.flatMap(([dialect, refusal]) =>
  PLACES.flatMap(([place, at]) =>
    (['continue', 'block'] as const).map((onFailure) => ({
      dialect,
      place,
      onFailure,
      text: at(JSON.stringify(refusal)),
    })),
  ),
);
const ofDialect = (dialect: HookDialect) => ({
  dialect,
  ...(dialect === 'cursor' || dialect === 'copilot' ? { dialectEvent: 'preToolUse' } : {}),
});

describe('a refusal beside other output', () => {
  test.each(CASES)('counts: $dialect, $place, onFailure $onFailure', async ({ dialect, onFailure, text }) => {
    const hook = { ...answers('before_tool', text, { onFailure }), ...ofDialect(dialect) };

    expect(await runOnce(lab, [hook])).toMatchObject({
      cancelled: true,
      reason: UNREAD,
      outcomes: [{ status: 'failed', problem: { kind: 'malformed' } }],
    });
    expect(lab.logged('error')).toHaveLength(1);
  });

  test('is not assumed in an object that allows, or in other text', async () => {
    const words = ['log\n{"decision":"allow"}', 'log\n{"decision":"blocked"}', 'decision: maybe', 'continue'];
    for (const text of [...words, 'the decision was not to deny it']) {
      expect(await runOnce(lab, [{ ...answers('before_tool', text), ...ofDialect('claude') }])).toMatchObject({
        cancelled: false,
      });
    }
  });

  test('of an answer makes the agent continue, also with onFailure block', async () => {
    const stop = answers('after_agent', 'log\n{"decision":"block","reason":"run the tests"}', { onFailure: 'block' });
    const { agent, model } = agentWith(lab, hooksIn(lab, { hooks: [{ ...stop, dialect: 'claude' } as never] }), {
      script: Array.from({ length: 9 }, () => says('Done.')),
    });

    expect((await agent.run('go')).status).toBe('completed');
    expect(JSON.stringify(model.requests[1]?.messages)).toContain(UNREAD);
  });
});

describe('a failed hook that refuses', () => {
  const runs: readonly (readonly [string, ShellHooksOptions['hooks'], number])[] = [
    ['a Copilot hook with exit code 1', [{ ...sh('before_tool', 'exit 1'), ...ofDialect('copilot') }] as never, 0],
    ['a refusal after a line', [{ ...answers('before_tool', 'log\n{"continue":false}') }] as never, 0],
    ['invalid output of a Cursor hook', [{ ...answers('before_tool', 'log'), ...ofDialect('cursor') }] as never, 0],
    ['exit code 1 without a refusal', [sh('before_tool', 'exit 1')] as never, 1],
  ];

  test.each(runs)('is reported as broken only if the call runs: %s', async (_what, list, ran) => {
    const { tool, inputs } = countingTool('look');
    const hooks = hooksIn(lab, { hooks: list });
    await agentWith(lab, hooks, { script: [calls('look', {}), says('ok')], tools: [tool] }).agent.run('go');

    expect(inputs).toHaveLength(ran);
    expect(hooks.status().diagnostics.filter(({ code }) => code === 'gate-broken')).toHaveLength(ran);
  });
});
